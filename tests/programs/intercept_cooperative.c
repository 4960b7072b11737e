/*
 * intercept_cooperative.c - two things that a tool must not change. An agent's cooperative queue, which the runtime
 * shares and counts, stays the shared queue. A thread bound to one CPU that creates a queue binds no other thread.
 *
 * Prints what the application sees of the cooperative queue (equal with and without a tool) and, after "worker", on how
 * many CPUs the completion worker may run, or "none".
 */
#include <dirent.h>
#include <hsa/hsa.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static hsa_agent_t gpu;

static hsa_status_t see_gpu_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    (void)data;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU)
        gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_queue_t *create_queue(hsa_queue_type32_t type)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t status = hsa_queue_create(gpu, 1024, type, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue);
    if (status != HSA_STATUS_SUCCESS) {
        printf("no queue of type %u: 0x%x\n", type, status);
        exit(2);
    }
    return queue;
}

static void *create_tied(void *data)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof one, &one) != 0)
        exit(2);
    *(hsa_queue_t **)data = create_queue(HSA_QUEUE_TYPE_MULTI);
    return NULL;
}

static int worker_cpus(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    while (tasks && (entry = readdir(tasks))) {
        char path[300], comm[32] = "";
        cpu_set_t cpus;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        if (fgets(comm, sizeof comm, file) && strcmp(comm, "rtl-worker\n") == 0 &&
            sched_getaffinity(atoi(entry->d_name), sizeof cpus, &cpus) == 0) {
            fclose(file);
            closedir(tasks);
            return CPU_COUNT(&cpus);
        }
        fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return 0;
}

/* A new worker gets its name when it first runs, so wait for it if one is expected. */
static void print_worker(void)
{
    const char *tools = getenv("HSA_TOOLS_LIB");
    time_t end = time(NULL) + (tools && tools[0] ? 30 : 0);
    int cpus = worker_cpus();
    while (!cpus && time(NULL) < end)
        cpus = worker_cpus();
    if (cpus)
        printf("worker %d\n", cpus);
    else
        printf("worker none\n");
}

int main(void)
{
    pthread_t thread;
    hsa_queue_t *queue = NULL;
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(see_gpu_agent, NULL) != HSA_STATUS_SUCCESS ||
        !gpu.handle)
        return 2;
    if (pthread_create(&thread, NULL, create_tied, &queue) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    print_worker();
    hsa_queue_destroy(queue);
    for (int i = 0; i < 2; i++) {
        hsa_queue_t *a = create_queue(HSA_QUEUE_TYPE_COOPERATIVE), *b = create_queue(HSA_QUEUE_TYPE_COOPERATIVE);
        printf("cooperative: one queue: %s\n", a == b ? "yes" : "no");
        hsa_status_t first = hsa_queue_destroy(a), second = hsa_queue_destroy(b);
        printf("cooperative: destroyed 0x%x 0x%x\n", first, second);
        fflush(stdout);
    }
    printf("shut down 0x%x\n", hsa_shut_down());
    return 0;
}
