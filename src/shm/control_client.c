/* Finds the control page and writes its word (control_client.h). */
#include "shm/control_client.h"

#include <sys/mman.h>
#include <unistd.h>

#include "shm/page_open.h"
#include "shm/process.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

enum { TRIES = 64 }; /* at compare-and-swap against other viewers, or against a hostile process */

bool rtl_reader_in_force(const struct rtl_reader *reader, struct rtl_in_force *in_force)
{
    uint64_t word;
    return rtl_fetch(reader, offsetof(struct rtl_header, in_force), &word, sizeof word) &&
           rtl_in_force_read(word, in_force);
}

bool rtl_reader_has_calls(const struct rtl_reader *reader)
{
    return reader->header.minor >= 6 && reader->header.calls == 1;
}

/* Explain why the process has no control page. */
static enum rtl_reader_status explain_no_control(const struct rtl_reader *reader, char *why, size_t why_bytes)
{
    const struct rtl_header *h = &reader->header;
    if (h->mode == RTL_MODE_OFF)
        return rtl_explain(RTL_READER_NO_CONTROL, why, why_bytes,
                           "process %d (%s): RTL_MODE=off hooks nothing, so its mode cannot be changed while it runs "
                           "(RTL_MODE=auto costs nearly as little, and can)",
                           (int)reader->pid, reader->comm);
    if (h->minor < 2)
        return rtl_explain(
            RTL_READER_NO_CONTROL, why, why_bytes,
            "process %d (%s): its librtl.so (segment version %u.%u) has no control page, which came with "
            "%u.2: its mode cannot be changed while it runs",
            (int)reader->pid, reader->comm, h->major, h->minor, RTL_SEGMENT_MAJOR);
    return rtl_explain(
        RTL_READER_NO_CONTROL, why, why_bytes,
        "process %d (%s) has no control page, as it said on its standard error: its mode cannot be changed",
        (int)reader->pid, reader->comm);
}

static const struct rtl_page_kind control_page = {.magic = RTL_CONTROL_MAGIC,
                                                  .bytes = RTL_CONTROL_BYTES,
                                                  .version = RTL_CONTROL_VERSION,
                                                  .missing = RTL_READER_NO_CONTROL,
                                                  .name = "control page",
                                                  .allows = "change its mode or wake its timing"};

enum rtl_reader_status rtl_control_open(const struct rtl_reader *reader, struct rtl_control_link *link, char *why,
                                        size_t why_bytes)
{
    void *page;
    link->page = NULL;
    if (!reader->pid || !reader->header.control_inode)
        return explain_no_control(reader, why, why_bytes);
    enum rtl_reader_status status = rtl_page_map(reader, &control_page, reader->header.control_fd,
                                                 reader->header.control_inode, &page, why, why_bytes);
    link->page = page;
    return status;
}

void rtl_control_close(struct rtl_control_link *link)
{
    if (link->page)
        munmap(link->page, RTL_CONTROL_BYTES);
    link->page = NULL;
}

/* Change the word: set a request, or without one count up the heartbeat. (A program that only asks for a mode is no
 * viewer.) Bounded, whatever others write. */
static void change_control_word(struct rtl_control *page, const struct rtl_control_request *request)
{
    uint64_t before = __atomic_load_n(&page->word, __ATOMIC_RELAXED);
    for (int i = 0; i < TRIES; i++) {
        struct rtl_control_request now = {.mode = RTL_MODE_NONE};
        if (!rtl_control_decode(before,
                                &now)) /* no viewer's word: choose a heartbeat that is probably not the last one */
            now.heartbeat = (uint16_t)(before * 31 + (uint64_t)getpid());
        if (request) {
            now.number = request->number;
            now.mode = request->mode;
        } else {
            now.heartbeat++;
        }
        if (__atomic_compare_exchange_n(&page->word, &before, rtl_control_encode(now), false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            break;
    }
    if (!request)
        __atomic_store_n(&page->writer, (uint64_t)getpid(), __ATOMIC_RELAXED);
}

uint64_t rtl_control_writer(const struct rtl_control_link *link)
{
    return link->page ? __atomic_load_n(&link->page->writer, __ATOMIC_RELAXED) : 0;
}

void rtl_control_heartbeat(struct rtl_control_link *link)
{
    if (link->page)
        change_control_word(link->page, NULL);
}

static uint16_t number_taken(const struct rtl_reader *reader)
{
    struct rtl_in_force in_force = {0};
    rtl_reader_in_force(reader, &in_force);
    return in_force.number;
}

uint16_t rtl_control_request_mode(const struct rtl_reader *reader, struct rtl_control_link *link, enum rtl_mode mode)
{
    uint16_t taken = number_taken(reader);
    struct rtl_control_request request = {.number = taken};
    rtl_control_decode(__atomic_load_n(&link->page->word, __ATOMIC_RELAXED), &request);
    request.number++;
    if (request.number == taken) /* the page was wiped: the library ignores the number that it carried out last */
        request.number++;
    request.mode = (uint8_t)mode;
    change_control_word(link->page, &request);
    return request.number;
}

uint32_t rtl_control_requested_mode(const struct rtl_reader *reader, const struct rtl_control_link *link)
{
    struct rtl_control_request request = {.mode = RTL_MODE_NONE};
    if (!link->page || !rtl_control_decode(__atomic_load_n(&link->page->word, __ATOMIC_RELAXED), &request) ||
        request.number == number_taken(reader))
        return RTL_MODE_NONE;
    return request.mode;
}
