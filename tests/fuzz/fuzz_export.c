/*
 * libFuzzer target: a hostile trace must never crash or hang `rtl-top export` or `rtl-top html`, nor make them write
 * invalid JSON or CSV, or a page whose data is more than JSON.
 *
 * fuzz: -timeout=20 -rss_limit_mb=2048 -max_len=4096
 *
 * The input makes a database: rows with values of all types for its tables (a program), or patches on the bytes of a
 * valid one. The target parses the output, JSON as a whole and CSV by line, and checks that messages are one line.
 */
#include "fuzz_database.h"

#include <json-c/json.h>

#include "command/html.h"
#include "options/commands.h"

static const char schema[] =
    "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"
    "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, completionSignal, start, end,"
    " description_id, opType_id);"
    "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id, args_id);"
    "CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);"
    "CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY, deviceType, deviceId, monitorType, start, end, value);"
    "CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag, value);"
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, '_Z1fIfLi3EEvPT_'), (4, 'UserMarker');"
    "INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu 0', '{\"name\":\"gfx\",\"pci\":\"0000:03:00.0\"}'),"
    " ('process 0', '{\"pid\":7}'), ('queue 1', '{\"process\":0}'), ('queue 2', '{\"process\":0,\"copies\":1}');"
    "INSERT INTO rocpd_op VALUES (1, 0, 1, 0, 'wg=64,1,1 grid=64,1,1', 5, 9, 3, 2), (2, 0, 1, 0, 'size=7', 6, 99, 1, "
    "2);"
    "INSERT INTO rocpd_api VALUES (1, 7, 7, 1, 9, 4, 2), (2, 7, 8, 2, 3, 3, 1);"
    "INSERT INTO rocpd_api_ops VALUES (1, 2, 1);"
    "INSERT INTO rocpd_monitor VALUES (1, 'gpu', 0, 'sclk', 1, 2, '1.5')";

static const char *const inserts[] = {
    "INSERT OR REPLACE INTO rocpd_string VALUES (?,?)",
    "INSERT OR REPLACE INTO rocpd_op VALUES (?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO rocpd_api VALUES (?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO rocpd_monitor VALUES (?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO rocpd_metadata VALUES (?,?,?)",
    "INSERT OR REPLACE INTO rocpd_api_ops VALUES (?,?,?)",
};

static struct fuzz_image good;
static struct fuzz_folder folder;
static char words[][12] = {"export", "--perfetto", "--csv", "--force", "--rocprofv3", "html", "-o"};
static char *database, *json, *csv, *v3, *page;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_enter(&folder);
    database = fuzz_at(&folder, "in.db");
    json = fuzz_at(&folder, "out.json");
    csv = fuzz_at(&folder, "out.csv");
    v3 = fuzz_at(&folder, "out.v3.json");
    page = fuzz_at(&folder, "out.html");
    sqlite3 *db;
    MUST(sqlite3_open(database, &db) == SQLITE_OK && sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    fuzz_read(database, &good);
    return 0;
}

static void check_json(const char *text, size_t size)
{
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *o = json_tokener_parse_ex(tokener, text, (int)size);
    MUST(o && json_tokener_get_error(tokener) == json_tokener_success);
    json_object_put(o);
    json_tokener_free(tokener);
}

static void check_json_file(const char *name)
{
    struct fuzz_image text;
    fuzz_read(name, &text);
    check_json((const char *)text.bytes, text.size);
    fuzz_tame(&text);
    free(text.bytes);
}

/* The data ends where the page's own text goes on, whatever the names contain. */
static void check_page(const char *name)
{
    struct fuzz_image text;
    fuzz_read(name, &text);
    const char *bytes = (const char *)text.bytes, *data = bytes + rtl_html_head_bytes;
    MUST(text.size > rtl_html_head_bytes + rtl_html_tail_bytes);
    size_t size = text.size - rtl_html_head_bytes - rtl_html_tail_bytes;
    MUST(!memcmp(bytes, rtl_html_head, rtl_html_head_bytes) &&
         !memcmp(data + size, rtl_html_tail, rtl_html_tail_bytes));
    for (const char *mark = "<>&"; *mark; mark++)
        MUST(!memchr(data, *mark, size));
    char *copy = malloc(size + 1); /* the parser needs the end of the text */
    MUST(copy);
    memcpy(copy, data, size);
    copy[size] = 0;
    check_json(copy, size);
    free(copy);
    free(text.bytes);
}

/* Each line has as many fields as the first one; no cell is a formula to a spreadsheet. */
static void check_csv(const char *name)
{
    struct fuzz_image text;
    fuzz_read(name, &text);
    int columns = 0, column = 0;
    bool quoted = false, first = true;
    fuzz_tame(&text);
    for (size_t i = 0; i < text.size; i++) {
        char c = (char)text.bytes[i];
        if (first && column >= 13)
            MUST(columns == 0 || !strchr("=+-@", c));
        first = false;
        if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == ',') {
            column++;
            first = true;
        } else if (c == '\n') {
            MUST(!quoted && (!columns || column == columns));
            columns = column;
            column = 0;
            first = true;
        }
    }
    MUST(!quoted && !column && columns == 23);
    free(text.bytes);
}

static void make_exports(void)
{
    char *argv[] = {words[0], database, words[1], json, words[2], csv, words[3], words[4], v3, NULL};
    struct fuzz_image printed;
    unlink(json);
    unlink(csv);
    unlink(v3);
    int status = fuzz_command(rtl_export_command, 9, argv, &printed);
    MUST(!printed.size);
    free(printed.bytes);
    MUST(status == 0 || status == 1 || (status >= 10 && status <= 15));
    if (!access(json, F_OK))
        check_json_file(json);
    if (!access(csv, F_OK))
        check_csv(csv);
    if (!access(v3, F_OK))
        check_json_file(v3);
    MUST(status || (!access(json, F_OK) && !access(csv, F_OK) && !access(v3, F_OK)));
}

static void make_page(void)
{
    char *argv[] = {words[5], database, words[6], page, NULL};
    struct fuzz_image printed;
    unlink(page);
    int status = fuzz_command(rtl_html_command, 4, argv, &printed);
    MUST(!printed.size);
    free(printed.bytes);
    MUST(status == 0 || status == 1 || (status >= 10 && status <= 15));
    MUST(!status == !access(page, F_OK));
    if (!status)
        check_page(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    uint64_t how = fuzz_take(&in, 1); /* bit 0: patches; bit 1: a page */
    if (how & 1)
        fuzz_patch(&in, &good, database);
    else
        fuzz_rows(&in, &good, database, inserts, sizeof inserts / sizeof *inserts);
    if (how & 2)
        make_page();
    else
        make_exports();
    fuzz_no_leftovers(&folder);
    return 0;
}
