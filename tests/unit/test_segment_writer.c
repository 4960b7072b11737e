/*
 * Creating the segment in a traced process: its contents, the protection by seals, and that no limit, sandbox or old
 * kernel does harm. seccomp filters stand in for old kernels and refuse what those lack.
 */
#include "limits_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Return 0 when a segment is created and works; store its seals in *seals. */
static int works(struct rtl_segment *s, uint32_t *seals)
{
    char why[300];
    struct rtl_reader *reader;
    struct rtl_snapshot snapshot;
    if (rtl_segment_create(s, &fixture_config, why, sizeof why) != 0)
        return 11;
    struct rtl_recorder *recorder = rtl_recorder_create(s);
    uint32_t kernel = rtl_segment_add_kernel(s, "kernel", 6, 1);
    rtl_recorder_prepare(recorder);
    rtl_recorder_record(recorder, RTL_HISTOGRAM_KERNEL(kernel), 12345);
    if (rtl_reader_open_fd(dup(s->fd), &reader, why, sizeof why) != RTL_READER_OK)
        return 12;
    if (rtl_reader_snapshot(reader, &snapshot) != RTL_READER_OK || snapshot.kernel_count != 1 || snapshot.timed != 1)
        return 13;
    if (seals)
        *seals = snapshot.seals;
    return 0;
}

/* Return 0 when the creation fails with that error and one line as message, and leaves no descriptor and no mapping. */
static int refused_with(int error)
{
    struct rtl_segment s;
    char why[300] = "";
    int before = dup(0);
    int result = rtl_segment_create(&s, &fixture_config, why, sizeof why);
    if (result != -error)
        return 21;
    if (!why[0] || strchr(why, '\n'))
        return 22;
    if (s.header || s.fd != -1)
        return 23;
    if (dup(0) != before + 1)
        return 24;
    return 0;
}

static void the_header_describes_the_process(void **state)
{
    (void)state;
    struct rtl_segment s;
    char comm[32] = "";
    fixture_segment(&s);
    FILE *f = fopen("/proc/self/comm", "r");
    assert_non_null(f);
    assert_non_null(fgets(comm, sizeof comm, f));
    fclose(f);
    comm[strcspn(comm, "\n")] = '\0';

    const struct rtl_header *h = s.header;
    assert_true(h->magic == RTL_SEGMENT_MAGIC);
    assert_int_equal(h->major, RTL_SEGMENT_MAJOR);
    assert_int_equal(h->size, s.size);
    assert_int_equal(h->pid, getpid());
    assert_string_equal(h->comm, comm);
    assert_string_equal(h->library_version, "1.2.3");
    assert_int_equal(h->mode, RTL_MODE_DEFAULT);
    assert_int_equal(h->runtime_minor, 14);
    assert_int_equal(h->table_ext_bytes, 592);
    assert_int_equal(h->signals_limit, 4096);
    assert_int_equal(h->state, RTL_STATE_STARTING);
    assert_int_equal(h->kernel_count, RTL_KERNEL_FIRST);
    assert_true(h->start_mono_ns && h->start_mono_ns <= fixture_now_ns());
    assert_memory_equal(s.names + s.kernels[RTL_KERNEL_OTHER].name_offset, "(other kernels)", 15);
    assert_memory_equal(s.names + s.kernels[RTL_KERNEL_UNKNOWN].name_offset, "(unknown kernel)", 16);
    rtl_segment_set_state(&s, RTL_STATE_LIVE);
    rtl_segment_note(&s, RTL_NOTE_FORKED);
    rtl_segment_note(&s, RTL_NOTE_BATCH_UNSAFE);
    assert_int_equal(h->state, RTL_STATE_LIVE);
    assert_int_equal(h->notes, RTL_NOTE_FORKED | RTL_NOTE_BATCH_UNSAFE);
    fixture_drop(&s);
}

static void the_environment_is_published(void **state)
{
    (void)state;
    static const char text[] = "RANK=5\0HIP_VISIBLE_DEVICES=0,1";
    static char longest[RTL_ENVIRONMENT_MAX + 1] = "RANK=7";
    struct rtl_segment s;
    struct rtl_segment_config config = fixture_config;
    size_t bytes = 99;
    config.environment = text;
    config.environment_bytes = sizeof text;
    assert_int_equal(rtl_segment_create(&s, &config, NULL, 0), 0);
    uint32_t row = fixture_kernel(&s, "a_kernel");
    struct rtl_reader *reader = fixture_reader(&s);
    assert_memory_equal(rtl_reader_environment(reader, &bytes), text, sizeof text);
    assert_int_equal(bytes, sizeof text);
    assert_string_equal(rtl_reader_kernel_name(reader, RTL_KERNEL_UNKNOWN), "(unknown kernel)");
    assert_string_equal(rtl_reader_kernel_name(reader, row), "a_kernel"); /* behind the environment */
    rtl_reader_close(reader);

    s.header->minor = 9; /* an older library */
    reader = fixture_reader(&s);
    assert_null(rtl_reader_environment(reader, &bytes));
    assert_int_equal(bytes, 0);
    rtl_reader_close(reader);

    /* a damaged segment is read without it */
    s.header->minor = RTL_SEGMENT_MINOR;
    for (int i = 0; i < 4; i++) {
        static const uint64_t offsets[] = {RTL_NAMES_BYTES, UINT64_MAX, RTL_NAMES_BYTES - 4, 0};
        s.header->environment_offset = offsets[i];
        s.header->environment_length = i < 3 ? sizeof text : RTL_ENVIRONMENT_MAX + 1;
        reader = fixture_reader(&s);
        assert_null(rtl_reader_environment(reader, &bytes));
        rtl_reader_close(reader);
    }
    fixture_drop(&s);

    config.environment = longest; /* more than all variables can have */
    config.environment_bytes = sizeof longest;
    assert_int_equal(rtl_segment_create(&s, &config, NULL, 0), 0);
    reader = fixture_reader(&s);
    assert_string_equal(rtl_reader_environment(reader, &bytes), "RANK=7");
    assert_int_equal(bytes, RTL_ENVIRONMENT_MAX);
    rtl_reader_close(reader);
    fixture_drop(&s);

    fixture_segment(&s); /* no variable is set: the segment publishes this, too */
    reader = fixture_reader(&s);
    assert_string_equal(rtl_reader_environment(reader, &bytes), "");
    assert_int_equal(bytes, 0);
    rtl_reader_close(reader);
    fixture_drop(&s);
}

static void no_other_process_can_write_or_resize(void **state)
{
    (void)state;
    struct rtl_segment s;
    char path[64];
    fixture_segment(&s);
    assert_int_equal(fcntl(s.fd, F_GET_SEALS) & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL),
                     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
    assert_int_equal(s.header->seals, fcntl(s.fd, F_GET_SEALS));
    snprintf(path, sizeof path, "/proc/self/fd/%d", s.fd);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0); /* root and the same user reach this point */
    assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    void *readable = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(readable, MAP_FAILED);
    assert_int_not_equal(mprotect(readable, 4096, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_not_equal(ftruncate(fd, 4096), 0);
    assert_int_not_equal(ftruncate(fd, (off_t)s.size * 2), 0);
    assert_int_not_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
    assert_int_not_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
    munmap(readable, 4096);
    close(fd);
    fixture_drop(&s);
}

static void low_descriptor_numbers_stay_free(void **state)
{
    (void)state;
    struct rtl_segment s;
    int before = dup(0);
    close(before);
    fixture_segment(&s);
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
    assert_true(s.fd >= 512);
    assert_int_equal(fcntl(s.fd, F_GETFD), FD_CLOEXEC);
    fixture_drop(&s);
}

static int with_few_descriptors(void)
{
    struct rtl_segment s;
    struct rlimit limit = {100, 100};
    int fresh = dup(0);
    close(fresh);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    int result = works(&s, NULL);
    return result ? result : s.fd > fresh + 10 && s.fd < 100 ? 0 : 2;
}

static int with_no_descriptor_left(void)
{
    struct rlimit limit = {20, 20};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    while (dup(0) >= 0)
        ;
    struct rtl_segment s;
    char why[300] = "";
    return rtl_segment_create(&s, &fixture_config, why, sizeof why) == -EMFILE && why[0] ? 0 : 2;
}

static int with_file_size_0(void)
{
    struct rlimit limit = {0, 0};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? refused_with(EFBIG) : 1;
}

static int with_file_size_just_short(void)
{
    struct rtl_segment s;
    struct rlimit limit = {0, RLIM_INFINITY};
    if (works(&s, NULL) != 0)
        return 1;
    limit.rlim_cur = s.size - 1;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || refused_with(EFBIG) != 0)
        return 2;
    limit.rlim_cur = s.size;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? works(&s, NULL) : 3;
}

static int with_little_address_space(void)
{
    struct rlimit limit = {64 << 20, 64 << 20};
    if (FIXTURE_ASAN)
        return 0; /* a sanitizer needs address space */
    return setrlimit(RLIMIT_AS, &limit) == 0 ? refused_with(ENOMEM) : 1;
}

static int without_memfd(void)
{
    return refuse(SYS_memfd_create, 0, 0xffffffff, 0, ENOSYS) ? refused_with(ENOSYS) : 1;
}

static int before_linux_6_3(void) /* no MFD_NOEXEC_SEAL */
{
    struct rtl_segment s;
    return refuse(SYS_memfd_create, 1, 0x8, 0, EINVAL) ? works(&s, NULL) : 1;
}

static int before_linux_5_1(void) /* no F_SEAL_FUTURE_WRITE */
{
    struct rtl_segment s;
    uint32_t seals;
    if (!refuse(SYS_fcntl, 2, F_SEAL_FUTURE_WRITE, 0, EINVAL))
        return 1;
    int result = works(&s, &seals);
    if (result)
        return result;
    return (seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE)) ==
                   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
               ? 0
               : 2;
}

static int without_seals(void)
{
    struct rtl_segment s;
    uint32_t seals;
    int result = refuse(SYS_fcntl, 1, 0, F_ADD_SEALS, EPERM) ? works(&s, &seals) : 1;
    return result ? result : seals & F_SEAL_SHRINK ? 2 : 0;
}

static int before_linux_5_14(void) /* no MADV_POPULATE_WRITE: fallocate makes the pages */
{
    struct rtl_segment s;
    struct stat before, after;
    if (!refuse(SYS_madvise, 2, 0, MADV_POPULATE_WRITE, EINVAL) || works(&s, NULL) != 0)
        return 1;
    fstat(s.fd, &before);
    if (!rtl_segment_populate(&s.chunks[40000], 1 << 20))
        return 2;
    fstat(s.fd, &after);
    return after.st_blocks - before.st_blocks >= 2048 ? 0 : 3;
}

static int without_memory(void)
{
    return refuse(SYS_madvise, 2, 0, MADV_POPULATE_WRITE, ENOMEM) ? refused_with(ENOMEM) : 1;
}

/* mlockall must not turn the sparse segment into 185 MB of memory. */
static int locked_in_memory(void)
{
    struct rtl_segment s;
    struct stat st;
    char why[300];
    if (mlockall(MCL_FUTURE) != 0)
        return errno == EPERM || errno == ENOMEM ? 0 : 1;
    int result = rtl_segment_create(&s, &fixture_config, why, sizeof why);
    if (result != 0) /* with an ordinary user's limit there is no segment, but a message */
        return result == -EAGAIN && strstr(why, "mlockall") ? 0 : 2;
    rtl_segment_add_kernel(&s, "kernel", 6, 1);
    fstat(s.fd, &st);
    return st.st_blocks * 512 < 1 << 20 ? 0 : 3;
}

static void limits_and_old_kernels_do_no_harm(void **state)
{
    (void)state;
    if (FIXTURE_TSAN)
        skip(); /* the sanitizer's runtime needs these calls */
    static const struct {
        const char *name;
        int (*body)(void);
    } cases[] = {
        {"RLIMIT_NOFILE 100", with_few_descriptors},
        {"no descriptor left", with_no_descriptor_left},
        {"RLIMIT_FSIZE 0", with_file_size_0},
        {"RLIMIT_FSIZE one byte short", with_file_size_just_short},
        {"RLIMIT_AS 64 MB", with_little_address_space},
        {"no memfd", without_memfd},
        {"before Linux 6.3", before_linux_6_3},
        {"before Linux 5.1", before_linux_5_1},
        {"no seals", without_seals},
        {"before Linux 5.14", before_linux_5_14},
        {"no memory", without_memory},
        {"mlockall", locked_in_memory},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int result = in_child(cases[i].body);
        if (result != 0)
            fail_msg("%s: step %d (1000 + signal)", cases[i].name, result);
    }
}

static void the_segment_is_sparse_and_not_in_core_dumps(void **state)
{
    (void)state;
    struct rtl_segment s;
    struct stat st;
    char line[512], start[32];
    bool inside = false, dontdump = false;
    fixture_segment(&s);
    assert_int_equal(fstat(s.fd, &st), 0);
    assert_int_equal(st.st_size, s.size);
    assert_in_range(st.st_blocks * 512, 4096, 64 << 10);

    snprintf(start, sizeof start, "%lx-", (unsigned long)(uintptr_t)s.header);
    FILE *f = fopen("/proc/self/smaps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, start, strlen(start)) == 0)
            inside = true;
        if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            dontdump = strstr(line, " dd") != NULL;
            break;
        }
    }
    fclose(f);
    assert_true(inside && dontdump);
    fixture_drop(&s);
}

static void kernels_beyond_the_last_row_share_other(void **state)
{
    (void)state;
    struct rtl_segment s;
    char name[32];
    fixture_segment(&s);
    for (uint32_t i = RTL_KERNEL_FIRST; i < RTL_KERNELS_MAX; i++) {
        snprintf(name, sizeof name, "kernel %u", i);
        assert_int_equal(fixture_kernel(&s, name), i);
    }
    uint64_t names = s.header->names_used;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(fixture_kernel(&s, "one too many"), RTL_KERNEL_OTHER);
    assert_int_equal(s.header->kernel_count, RTL_KERNELS_MAX);
    assert_int_equal(s.header->kernels_over, 1000);
    assert_int_equal(s.header->notes, RTL_NOTE_KERNELS_FULL);
    assert_int_equal(s.header->names_used, names); /* no name memory was used for them */
    fixture_drop(&s);
}

static void names_of_any_length_are_stored_while_they_fit(void **state)
{
    (void)state;
    struct rtl_segment s;
    static char name[3 << 20];
    /* the two fixed rows' names use some of the last one's memory */
    const uint32_t fit = RTL_NAMES_BYTES / RTL_NAME_MAX - 1;
    fixture_segment(&s);
    memset(name, 'n', sizeof name);
    assert_int_equal(rtl_segment_add_kernel(&s, name, 0, 0), RTL_KERNEL_FIRST); /* an empty name is a name, too */
    for (uint32_t i = 1; i <= fit; i++)
        assert_int_equal(rtl_segment_add_kernel(&s, name, sizeof name, 0), RTL_KERNEL_FIRST + i);
    assert_int_equal(rtl_segment_add_kernel(&s, name, sizeof name, 0), RTL_KERNEL_OTHER);
    assert_int_equal(s.header->notes, RTL_NOTE_NAMES_FULL);
    assert_int_equal(s.header->kernels_over, 1);
    const struct rtl_kernel *last = &s.kernels[RTL_KERNEL_FIRST + fit + 1];
    assert_int_equal(fixture_kernel(&s, "a short one still fits"), RTL_KERNEL_FIRST + fit + 1);
    assert_memory_equal(s.names + last->name_offset, "a short one still fits", 22);
    fixture_drop(&s);
}

/* The segment, its readers and recordings share one limit; names that differ beyond it stay distinct. */
static void cut_names_stay_distinct(void **state)
{
    (void)state;
    struct rtl_segment s;
    static char name[RTL_NAME_MAX + 1000];
    const uint32_t lengths[] = {RTL_NAME_MAX - 1, RTL_NAME_MAX, RTL_NAME_MAX + 1, sizeof name, sizeof name};
    enum { NAMES = sizeof lengths / sizeof *lengths };
    fixture_segment(&s);
    memset(name, 'n', sizeof name);
    for (uint32_t i = 0; i < NAMES; i++) {
        name[sizeof name - 1] = (char)('a' + i); /* the last two differ in their last byte only */
        uint32_t row = rtl_segment_add_kernel(&s, name, lengths[i], 0);
        const struct rtl_kernel *k = &s.kernels[row];
        const char *kept = s.names + k->name_offset;
        assert_int_equal(row, RTL_KERNEL_FIRST + i);
        assert_int_equal(k->name_length, lengths[i] < RTL_NAME_MAX ? lengths[i] : RTL_NAME_MAX);
        assert_memory_equal(kept, name, RTL_NAME_MAX - 17);
        assert_int_equal(kept[RTL_NAME_MAX - 17], lengths[i] > RTL_NAME_MAX ? '~' : 'n');
        for (uint32_t j = 0; j < i; j++)
            if (s.kernels[RTL_KERNEL_FIRST + j].name_length == k->name_length)
                assert_memory_not_equal(s.names + s.kernels[RTL_KERNEL_FIRST + j].name_offset, kept, RTL_NAME_MAX);
    }
    fixture_drop(&s);
}

enum { THREADS = 8, EACH = 1500 };
struct adder {
    struct rtl_segment *segment;
    int number;
    uint32_t rows[EACH];
};

static void *add_kernels(void *argument)
{
    struct adder *a = argument;
    char name[64];
    for (int i = 0; i < EACH; i++) {
        int length = snprintf(name, sizeof name, "thread %d kernel %d", a->number, i);
        a->rows[i] = rtl_segment_add_kernel(a->segment, name, (uint32_t)length, 0);
    }
    return NULL;
}

static void rows_are_taken_by_many_threads_at_once(void **state)
{
    (void)state;
    struct rtl_segment s;
    static struct adder adders[THREADS];
    pthread_t threads[THREADS];
    bool *taken = calloc(RTL_KERNELS_MAX, 1);
    char name[64];
    fixture_segment(&s);
    for (int t = 0; t < THREADS; t++) {
        adders[t].segment = &s;
        adders[t].number = t;
        assert_int_equal(pthread_create(&threads[t], NULL, add_kernels, &adders[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < EACH; i++) {
            uint32_t row = adders[t].rows[i];
            assert_in_range(row, RTL_KERNEL_FIRST, RTL_KERNELS_MAX - 1);
            assert_false(taken[row]);
            taken[row] = true;
            int length = snprintf(name, sizeof name, "thread %d kernel %d", t, i);
            assert_int_equal(s.kernels[row].name_length, length);
            assert_memory_equal(s.names + s.kernels[row].name_offset, name, (size_t)length);
        }
    assert_int_equal(s.header->kernel_count, RTL_KERNEL_FIRST + THREADS * EACH);
    free(taken);
    fixture_drop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_describes_the_process),
        cmocka_unit_test(the_environment_is_published),
        cmocka_unit_test(no_other_process_can_write_or_resize),
        cmocka_unit_test(low_descriptor_numbers_stay_free),
        cmocka_unit_test(limits_and_old_kernels_do_no_harm),
        cmocka_unit_test(the_segment_is_sparse_and_not_in_core_dumps),
        cmocka_unit_test(kernels_beyond_the_last_row_share_other),
        cmocka_unit_test(names_of_any_length_are_stored_while_they_fit),
        cmocka_unit_test(cut_names_stay_distinct),
        cmocka_unit_test(rows_are_taken_by_many_threads_at_once),
    };
    return cmocka_run_group_tests_name("segment writer", tests, NULL, NULL);
}
