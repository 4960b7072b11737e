/*
 * libFuzzer target: the control page, from both sides. Words in the page can change only the mode, and only if a viewer
 * could have written them. A viewer that opens the page of a hostile process writes only to a sealed page, and returns.
 *
 * The input: how to make the page, its bytes, then words with times for the library.
 *
 * fuzz: -timeout=5 -rss_limit_mb=512 -max_len=1024
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "intercept/worker/mode.h"
#include "segment_checks.h"
#include "shm/control_client.h"
#include "shm/segment_writer.h"

static struct rtl_segment segment;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .control = true};
    char why[200];
    (void)argc;
    (void)argv;
    MUST(rtl_segment_create(&segment, &config, why, sizeof why) == 0);
    return 0;
}

/* The library's side: words, each with a time that may stand still, jump or go back. */
static void hear(struct fuzz_input *in)
{
    struct rtl_requests requests = {.mode = (enum rtl_mode)(fuzz_take(in, 1) % (RTL_MODE_AUTO + 1))};
    uint64_t now = 1000000000000ull;
    while (in->left) {
        struct rtl_requests before = requests;
        struct rtl_control_request request = {0};
        uint8_t kind = (uint8_t)fuzz_take(in, 1);
        uint64_t word = fuzz_take(in, kind & 1 ? 8 : 5);
        if (!(kind & 1)) /* a word that a viewer could write */
            word = rtl_control_encode(
                (struct rtl_control_request){(uint16_t)word, (uint16_t)(word >> 16), (uint8_t)(word >> 32)});
        now += kind & 2 ? fuzz_take(in, 4) : RTL_HEARTBEAT_NS * (kind >> 4) / 4;
        bool valid = rtl_control_decode(word, &request);
        rtl_requests_apply(&requests, word, now);
        MUST(!valid || rtl_control_encode(request) == word);
        MUST(requests.mode <= RTL_MODE_AUTO);
        if (!valid) /* an invalid word changes nothing; a heartbeat may have expired */
            MUST(requests.mode == before.mode && requests.number == before.number &&
                 requests.heartbeat == before.heartbeat && (!requests.watched || before.watched));
        if (requests.mode != before.mode)
            MUST(valid && request.number != before.number && request.number == requests.number &&
                 request.mode == requests.mode);
        if (requests.watched && !before.watched)
            MUST(valid && request.heartbeat != before.heartbeat);
        enum rtl_policy policy = rtl_requests_policy(&requests);
        MUST(policy <= RTL_TIME);
        MUST(rtl_requests_activity(&requests) <= RTL_ACTIVITY_TIMING);
        MUST((rtl_requests_mask(&requests) & RTL_CONTROL_REQUEST) == RTL_CONTROL_REQUEST);
        /* the same word at the same time changes nothing */
        struct rtl_requests again = requests;
        rtl_requests_apply(&again, word, now);
        MUST(again.mode == requests.mode && again.number == requests.number && again.watched == requests.watched);
    }
}

/* Makes a page from the input, in place of the library's. */
static int make_page(struct fuzz_input *in)
{
    static const off_t sizes[] = {RTL_CONTROL_BYTES, RTL_CONTROL_BYTES, 0, 64, RTL_CONTROL_BYTES - 1, 1 << 20};
    static const int seals[] = {F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
                                F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
                                F_SEAL_GROW | F_SEAL_SEAL,
                                F_SEAL_SHRINK | F_SEAL_GROW,
                                F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_WRITE,
                                0};
    struct rtl_control page = {.magic = RTL_CONTROL_MAGIC,
                               .version = RTL_CONTROL_VERSION,
                               .bytes = RTL_CONTROL_BYTES,
                               .pid = (uint64_t)getpid(),
                               .word = fuzz_take(in, 8)};
    uint8_t how = (uint8_t)fuzz_take(in, 1), patches = (uint8_t)fuzz_take(in, 1) % 4;
    int fd = memfd_create(RTL_CONTROL_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    MUST(fd >= 0);
    for (int i = 0; i < patches; i++) {
        size_t at = fuzz_take(in, 1) % sizeof page;
        ((uint8_t *)&page)[at] = (uint8_t)fuzz_take(in, 1);
    }
    MUST(pwrite(fd, &page, sizeof page, 0) == (ssize_t)sizeof page);
    MUST(ftruncate(fd, sizes[how % 6]) == 0);
    fcntl(fd, F_ADD_SEALS, seals[how / 6 % 6]);
    return fd;
}

/* The viewer's side. */
static void speak(struct fuzz_input *in)
{
    char why[300] = "", before[RTL_CONTROL_BYTES] = {0}, after[RTL_CONTROL_BYTES] = {0};
    struct rtl_reader *reader;
    struct rtl_control_link link;
    struct stat identity;
    int fd = make_page(in), readers = dup(segment.fd);
    MUST(fstat(fd, &identity) == 0);
    segment.header->in_force = fuzz_take(in, 8);
    MUST(rtl_reader_open_fd(readers, &reader, why, sizeof why) == RTL_READER_OK);
    uint8_t lie = (uint8_t)fuzz_take(in, 1);
    reader->pid = getpid();
    reader->header.control_fd = lie & 1 ? (uint32_t)fuzz_take(in, 4) : (uint32_t)fd;
    reader->header.control_inode = lie & 2 ? fuzz_take(in, 8) : identity.st_ino;
    bool read = pread(fd, before, sizeof before, 0) >= 0;
    enum rtl_reader_status status = rtl_control_open(reader, &link, why, sizeof why);
    MUST((status == RTL_READER_OK) == (link.page != NULL));
    if (!link.page) {
        MUST(why[0] && !strchr(why, '\n'));
        rtl_control_heartbeat(&link);
        MUST(read && pread(fd, after, sizeof after, 0) >= 0 && !memcmp(before, after, sizeof after));
    } else {
        enum rtl_mode mode = (enum rtl_mode)(fuzz_take(in, 1) % (RTL_MODE_AUTO + 1));
        struct rtl_in_force taken = {0};
        struct rtl_control_request requests = {0};
        rtl_reader_in_force(reader, &taken);
        rtl_control_heartbeat(&link);
        MUST(rtl_control_writer(&link) == (uint64_t)getpid());
        uint16_t number = rtl_control_request_mode(reader, &link, mode);
        MUST(number != taken.number);
        MUST(rtl_control_requested_mode(reader, &link) == (uint32_t)mode);
        MUST(rtl_control_decode(link.page->word, &requests) && requests.number == number && requests.mode == mode);
        /* the viewer changed only the word and its writer */
        MUST(pread(fd, after, sizeof after, 0) == (ssize_t)sizeof after);
        memset(before + offsetof(struct rtl_control, word), 0, 16);
        memset(after + offsetof(struct rtl_control, word), 0, 16);
        MUST(!memcmp(before, after, sizeof after));
    }
    rtl_control_close(&link);
    rtl_reader_close(reader);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    speak(&in);
    hear(&in);
    return 0;
}
