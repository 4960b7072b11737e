/*
 * libFuzzer target: what rtl-top reads from an observed process's memory: the list of code objects, their symbols,
 * queues and their packets, signals. The memory is a file of 64 KB whose offsets are the addresses.
 *
 * It starts as a valid process: a list of two code objects, one in memory, a queue with its ring, doorbell and packets.
 * The input is patches of 8 bytes: an address (2 bytes, times 2), a byte count (1), a number (5), and, if the count is
 * above 8, a new line for the mappings, as text. The number of bytes beyond whole patches selects the kind of memory of
 * the queue.
 *
 * fuzz: -timeout=10 -rss_limit_mb=1024 -max_len=512
 */
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "observe/debug_list.h"
#include "observe/elf_symbols.h"
#include "observe/kernel_code.h"
#include "observe/observed_queue.h"

enum {
    MEMORY = 1 << 16,
    LIST = 0x100,
    MAPS = 0x200,
    URIS = 0x400,
    CODE = 0x1000,
    QUEUE = 0x4000,
    BELL = 0x5000,
    SIGNAL = 0x5040,
    RING = 0x6000,
    DOORBELLS = 0x9000,
    PACKETS = 64
};
static int file;
static struct rtl_target_memory memory;

static void put(const void *bytes, size_t count, uint64_t at)
{
    MUST(pwrite(file, bytes, count, (off_t)at) == (ssize_t)count);
}

/* Makes the smallest code object with one kernel. */
static void put_code(uint64_t at)
{
    static const char strings[] = "\0gemm.kd";
    Elf64_Ehdr h = {.e_phoff = sizeof h, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    Elf64_Phdr p[2] = {{.p_type = PT_LOAD, .p_filesz = 0x1000, .p_memsz = 0x1000},
                       {.p_type = PT_DYNAMIC, .p_offset = 0x200, .p_vaddr = 0x200, .p_filesz = 0x80, .p_memsz = 0x80}};
    Elf64_Dyn d[] = {{.d_tag = DT_SYMTAB, .d_un.d_ptr = 0x300},
                     {.d_tag = DT_STRTAB, .d_un.d_ptr = 0x400},
                     {.d_tag = DT_STRSZ, .d_un.d_val = sizeof strings},
                     {.d_tag = DT_HASH, .d_un.d_ptr = 0x500},
                     {.d_tag = 0}};
    Elf64_Sym s[2] = {{0}, {.st_name = 1, .st_info = STT_OBJECT, .st_value = 0x40, .st_shndx = 1}};
    uint32_t hash[2] = {1, 2};
    put(&h, sizeof h, at);
    put(p, sizeof p, at + sizeof h);
    put(d, sizeof d, at + 0x200);
    put(s, sizeof s, at + 0x300);
    put(strings, sizeof strings, at + 0x400);
    put(hash, sizeof hash, at + 0x500);
}

static void lay_out(void)
{
    static const char uri[] = "memory://1#offset=0x1000&size=0x1000";
    struct r_debug list = {.r_map = (struct link_map *)MAPS};
    struct link_map maps[2] = {{.l_addr = CODE, .l_name = (char *)URIS, .l_next = (struct link_map *)(MAPS + 0x40)},
                               {.l_addr = CODE + 0x1000, .l_name = (char *)URIS, .l_prev = (struct link_map *)MAPS}};
    struct rtl_queue_head q = {.features = 1,
                               .ring = RING,
                               .doorbell_signal = BELL,
                               .size = PACKETS,
                               .id = 3,
                               .write_index = 70,
                               .read_index = 20,
                               .read_index_offset = 0x80,
                               .properties = 8};
    struct rtl_signal_image bell = {.kind = -1, .value = DOORBELLS, .queue = QUEUE},
                            signal = {.kind = 1, .start_ts = 1, .end_ts = 2};
    MUST(ftruncate(file, 0) == 0 && ftruncate(file, MEMORY) == 0);
    put(&list, sizeof list, LIST);
    put(&maps[0], sizeof maps[0], MAPS);
    put(&maps[1], sizeof maps[1], MAPS + 0x40);
    put(uri, sizeof uri, URIS);
    put_code(CODE);
    put(&q, sizeof q, QUEUE);
    put(&bell, sizeof bell, BELL);
    put(&signal, sizeof signal, SIGNAL);
    for (uint64_t i = 0; i < PACKETS; i++) {
        struct rtl_ring_packet p = {.header = 0x102,
                                    .setup = 1,
                                    .workgroup = {1, 1, 1},
                                    .grid = {1, 1, 1},
                                    .kernel_object = i % 3 ? CODE + 0x40 : 0x77,
                                    .signal = i % 5 ? 0 : SIGNAL};
        put(&p, sizeof p, RING + i * sizeof p);
    }
}

static struct rtl_observed seen;
static struct rtl_observed_queue queue;

/* Polls the found queue twice. */
static void watch(const struct rtl_found_queue *found)
{
    struct rtl_queue_head head;
    if (!rtl_target_read(&memory, found->at, &head, sizeof head))
        return;
    memset(&queue, 0, sizeof queue);
    MUST(rtl_observed_queue_begin(&queue, found, &head, false));
    for (uint64_t now = 1000; now < 4000; now += 1000) {
        bool there = rtl_observed_queue_poll(&seen, &queue, &head, now);
        if (there && seen.unknown) {
            rtl_kernel_names_set_nameless(seen.names, seen.unknown);
            seen.unknown = 0;
            rtl_observed_queue_poll(&seen, &queue, &head, now);
        }
        MUST(queue.dispatches + queue.others <= 8ull * found->size);
        head.read_index += 7;
    }
    rtl_observed_queue_end(&seen, &queue);
}

/* Callback: checks that the code object has that name and is complete. */
static bool take_code(void *context, const struct rtl_kernel_code *code)
{
    MUST(code->size && code->size <= MEMORY && memmem(code->bytes, code->size, "gemm.kd", 7));
    *(unsigned *)context += 1;
    return true;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    file = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(file >= 0);
    memory = (struct rtl_target_memory){.fd = file, .pagemap = -1};
    return 0;
}

/* One for each release and kind of GPU, with the doorbells; the last ones search for no queue. */
static const char *const queue_memory[8] = {
    "4000-6000 rw-p 0 00:00 0 \nRss: 8 kB\nVmFlags: rd wr dc\n",
    "4000-6000 rw-p 0 00:00 0 \nRss: 8 kB\nVmFlags: rd wr ac\n",
    "4000-6000 rw-s 0 00:01 9 /dev/zero (deleted)\nRss: 8 kB\nVmFlags: rd wr sh\n",
    "4000-6000 rw-s 0 00:05 9 /dev/dri/renderD128\nVmFlags: rd wr sh io dc pf\n",
    "4000-6000 rw-s 0 00:01 9 /memfd:x\nRss: 8 kB\nVmFlags: rd wr sh dc\n",
    "4000-6000 rw-p 0 00:05 9 /lib/x\nRss: 8 kB\nVmFlags: rd wr\n",
    "4000-6000 rw-p 0 00:00 0 \nVmFlags: rd wr dc\n",
    "4000-6000 r--p 0 00:00 0 \nRss: 8 kB\nVmFlags: rd dc\n",
};
enum { QUEUE_MEMORY_FOUND = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[1024];
    struct rtl_found_queue found[4];
    struct rtl_mappings mappings;
    size_t kind = size % 8, used = (size_t)snprintf(text, sizeof text,
                                                    "1000-3000 r--p 0 00:00 9 x\n%s6000-8000 rw-p 0 00:00 0 \n"
                                                    "9000-a000 rw-s 0 00:05 7 /dev/kfd\n",
                                                    queue_memory[kind]);
    lay_out();
    for (size_t at = 0; at + 8 <= size; at += 8) {
        size_t bytes = data[at + 2];
        if (bytes > 8 && used + 6 < sizeof text) {
            memcpy(text + used, data + at + 3, 5);
            used += 5;
        } else {
            uint64_t value = 0;
            memcpy(&value, data + at + 3, 5);
            put(&value, bytes % 9, 2ull * (uint64_t)(data[at] | (data[at + 1] & 0x7f) << 8) % (MEMORY - 8));
        }
    }
    FILE *smaps = fmemopen(text, used, "r");
    MUST(smaps && rtl_mappings_parse(smaps, &mappings));
    fclose(smaps);
    seen = (struct rtl_observed){
        .memory = &memory, .names = rtl_kernel_names_create(), .users = calloc(RTL_SIGNAL_USERS, sizeof *seen.users)};
    MUST(seen.names && seen.users);
    struct rtl_queue_search search = {0};
    struct rtl_debug_lists found_lists, lists = {.head = {LIST}, .count = 1};
    rtl_debug_lists_find(&memory, &mappings, &found_lists);
    rtl_debug_lists_update(&memory, &mappings, &found_lists);
    rtl_kernel_names_read(seen.names, &memory, &lists, -1);
    rtl_kernel_names_read(seen.names, &memory, &lists, -1);
    MUST(seen.names->rows <= RTL_KERNELS_MAX);
    unsigned codes = 0;
    rtl_kernel_code_find(&memory, &lists, -1, "gemm", take_code, &codes);
    MUST(codes <= RTL_CODE_OBJECTS_MAX && (size || codes == 2));
    MUST(rtl_observed_rows_grow(&seen.rows, seen.names->rows));
    uint32_t n = rtl_queues_find(&memory, &mappings, &search, found, 4, 1000000000, 1000000000);
    MUST(n <= 4 && (size >= 8 || n == (kind < QUEUE_MEMORY_FOUND)));
    MUST(size >= 8 || (rtl_queue_search_done(&search) && search.whole));
    for (uint32_t i = 0; i < n; i++)
        watch(&found[i]);
    MUST(size || seen.rows.at[RTL_KERNEL_FIRST].calls > 10);
    rtl_observed_rows_free(&seen.rows);
    rtl_kernel_names_free(seen.names);
    free(seen.users);
    rtl_mappings_free(&mappings);
    return 0;
}
