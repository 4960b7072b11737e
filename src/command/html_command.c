/* rtl-top html FILE.db | A.db B.db: options, the kind of the file, and the page's file. See html.h. */
#include "command/export.h"
#include "command/html.h"
#include "base/clock.h"
#include "base/version.h"
#include "model/verdict.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "record/rocpd_schema.h"
#include "record/schema.h"
#include "text/quote.h"
#include "text/text.h"
#include "text/units.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct html_request {
    struct rtl_html page;
    const char *files[2], *path; /* the second file may be NULL */
    bool force;
};

static int parse_html(struct html_request *c, int argc, char **argv)
{
    struct rtl_arguments a;
    struct rtl_options *options = &c->page.options;
    const struct rtl_own_value own[RTL_HTML_OWN_COUNT] = {
        [RTL_HTML_FILE] = {.text = &c->path},
        [RTL_HTML_FORCE] = {.flag = &c->force},
        [RTL_HTML_PID] = {.pid = &options->pid},
    };
    rtl_options_default(options);
    int status = rtl_arguments_read(&a, RTL_COMMAND_HTML, false, own, options, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    int files = argc - a.first;
    if (files < 1 || files > 2 || !*argv[a.first] || !*argv[argc - 1])
        return RTL_WRONG("%s needs a recording, a trace or two recordings: rtl-top html FILE.db -o PAGE.html", argv[0]);
    c->files[0] = argv[a.first];
    c->files[1] = files == 2 ? argv[a.first + 1] : NULL;
    if (files == 2 && (options->pid || options->recording))
        return RTL_WRONG("-p and --recording select from one file: they can't be combined with a second file");
    if (!*c->path || (rtl_outfile_is_standard_output(c->path) && isatty(STDOUT_FILENO)))
        return RTL_WRONG("a page is no text for a terminal: write it to a file with -o PAGE.html");
    return RTL_GO_ON;
}

/* --- data --- */

static void put_head(struct rtl_html *h)
{
    put_text(&h->w, h->root, "version", RTL_VERSION);
    put_number(&h->w, h->root, "made_ns", rtl_real_ns());
    put_text(&h->w, h->root, "filter", h->options.filter);
    struct json_object *o = object_in(&h->w, h->root, "verdicts");
#define VERDICT(sym, key, words, meaning) put_text(&h->w, o, key, words ": " meaning);
    RTL_VERDICTS(VERDICT)
#undef VERDICT
}

/* Adds a file: a recording, or else a trace. */
static int add_file(struct rtl_html *h, const char *file)
{
    char why[512], path[4 * PATH_MAX + 1]; /* longer paths can't be opened */
    struct rtl_db *db;
    h->file = file;
    rtl_progress_begin("html: reading", file);
    int status = (int)rtl_db_open(file, &(struct rtl_db_options){.foreign = true}, &db, why, sizeof why);
    if (status)
        return rtl_refuse(status, "%s", why);
    bool recording = rtl_db_has_set(db, &rtl_series_set), trace = !recording && rtl_db_has_set(db, &rtl_rocpd_set);
    rtl_text_line(path, sizeof path, file, strlen(file));
    put_text(&h->w, h->data, "file", path);
    if (trace && (h->options.pid || h->options.recording)) {
        status = RTL_WRONG("-p and --recording select from a recording, and %s is a trace", file);
    } else if (trace) {
        status = rtl_html_trace(h, db);
    } else if (!recording) {
        if (!rtl_db_status(db))
            rtl_db_fail(db, RTL_DB_MISSING, "%s contains neither a recording nor a trace", file);
        status = rtl_refuse((int)rtl_db_status(db), "%s", rtl_db_why(db));
    }
    rtl_db_close(db);
    return recording ? rtl_html_recording(h) : status;
}

/* Adds the files; two files are compared by the page. */
static int add_files(struct html_request *c)
{
    struct rtl_html *h = &c->page;
    int status = 0;
    struct json_object *files = array_in(&h->w, h->root, "files");
    for (int i = 0; i < 2 && c->files[i] && !status && !h->w.failed; i++) {
        h->data = object_at_end(&h->w, files);
        status = add_file(h, c->files[i]);
    }
    rtl_progress_end();
    return status;
}

static void count_bytes(void *count, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)count += length;
}

/* Writes or counts the data as the page contains it. */
static void embed_data(struct rtl_html *h, rtl_quote_put *put, void *to)
{
    size_t length = 0;
    const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
    const char *text = json_object_to_json_string_length(h->root, flags, &length);
    if (text)
        rtl_quote_script(put, to, text, length);
    h->w.failed |= !text;
}

/* Shortens the lists until the data fits into a page. Returns its length. */
static size_t fit_data(struct rtl_html *h)
{
    size_t bytes = RTL_HTML_BYTES + 1;
    for (uint32_t rows = RTL_HTML_ROWS; rows >= RTL_HTML_TOP && bytes > RTL_HTML_BYTES && !h->w.failed; rows /= 2) {
        rtl_html_shorten(h->root, rows, NULL);
        put_number(&h->w, h->root, "rows_max", rows);
        bytes = 0;
        embed_data(h, count_bytes, &bytes);
    }
    return bytes;
}

static int write_page(struct html_request *c)
{
    char why[512];
    struct rtl_html *h = &c->page;
    size_t bytes = fit_data(h);
    if (h->w.failed)
        return RTL_WRONG("out of memory");
    if (bytes > RTL_HTML_BYTES)
        return RTL_WRONG("the page would have more than %d MB: show fewer kernels with -F", RTL_HTML_BYTES >> 20);
    rtl_sink_write(h->sink, (const char *)rtl_html_head, rtl_html_head_bytes);
    embed_data(h, rtl_export_put, h->sink);
    rtl_sink_write(h->sink, (const char *)rtl_html_tail, rtl_html_tail_bytes);
    struct rtl_sink *sink = h->sink;
    h->sink = NULL;
    if (!rtl_sink_close(sink, true, why, sizeof why))
        return rtl_refuse(RTL_DB_FULL, "%s", why);
    rtl_complain("page written to %s (%s)", rtl_outfile_is_standard_output(c->path) ? "standard output" : c->path,
                 rtl_format_bytes(bytes + rtl_html_head_bytes + rtl_html_tail_bytes).text);
    return 0;
}

int rtl_html_command(int argc, char **argv)
{
    char why[512];
    struct html_request c = {.path = "-"};
    struct rtl_html *h = &c.page;
    int status = parse_html(&c, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    const struct rtl_outfile_options options = {.force = c.force, .others = {c.files[0], c.files[1]}};
    h->sink = rtl_sink_open(c.path, &options, why, sizeof why);
    if (!h->sink)
        return rtl_refuse(RTL_DB_PATH, "%s", why);
    h->root = json_object_new_object();
    put_head(h);
    rtl_db_stop_when(rtl_progress_tick);
    status = add_files(&c);
    if (!status)
        status = write_page(&c);
    if (h->sink)
        rtl_sink_close(h->sink, false, why, sizeof why);
    free(h->texts.buckets.bytes);
    json_object_put(h->root);
    return status;
}
