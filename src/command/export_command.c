/* rtl-top export FILE.db --perfetto OUT | --csv OUT | --rocprofv3 OUT: options and files. See export.h. */
#include "command/export.h"
#include "record/rocpd.h"
#include "options/arguments.h"
#include "options/complain.h"

#include <string.h>

struct export_output {
    const char *path;
    void (*write)(struct rtl_export *);
    struct rtl_sink *sink;
};
enum { OUTPUTS = 3 };

struct export_request {
    const char *file;
    bool force;
    struct export_output output[OUTPUTS];
};

/* Opens all outputs before the first is written. */
static int open_outputs(struct export_request *c)
{
    char why[512];
    for (int i = 0; i < OUTPUTS; i++) {
        struct rtl_outfile_options options = {.force = c->force, .others = {c->file}};
        for (int other = 0, n = 1; other < OUTPUTS; other++)
            if (other != i && c->output[other].path && strcmp(c->output[other].path, "-") != 0)
                options.others[n++] = c->output[other].path;
        if (!c->output[i].path)
            continue;
        c->output[i].sink = rtl_sink_open(c->output[i].path, &options, why, sizeof why);
        if (!c->output[i].sink)
            return rtl_refuse(RTL_DB_PATH, "%s", why);
    }
    return 0;
}

static int write_output(struct rtl_export *e, struct export_output *output)
{
    char why[512];
    e->sink = output->sink;
    e->written = 0;
    rtl_progress_begin("writing", output->path);
    output->write(e);
    rtl_progress_end();
    int status = (int)rtl_db_status(e->db);
    if (status)
        rtl_complain("%s", rtl_db_why(e->db));
    output->sink = NULL;
    if (!rtl_sink_close(e->sink, !status, why, sizeof why) && !status)
        status = rtl_refuse(RTL_DB_FULL, "%s", why);
    if (!status)
        rtl_complain("%llu row%s (dispatches, copies, markers) written to %s", (unsigned long long)e->written,
                     e->written == 1 ? "" : "s",
                     rtl_outfile_is_standard_output(output->path) ? "standard output" : output->path);
    return status;
}

static int write_outputs(struct export_request *c, struct rtl_export *e)
{
    if (!rtl_db_has_set(e->db, &rtl_rocpd_set)) {
        if (!rtl_db_status(e->db))
            rtl_db_fail(e->db, RTL_DB_MISSING, "%s contains no trace: record one with --trace", c->file);
        return rtl_refuse((int)rtl_db_status(e->db), "%s", rtl_db_why(e->db));
    }
    int status = rtl_export_begin(e) ? open_outputs(c) : RTL_WRONG("out of memory");
    for (int i = 0; i < OUTPUTS && !status; i++)
        if (c->output[i].sink)
            status = write_output(e, &c->output[i]);
    for (int i = 0; i < OUTPUTS; i++)
        if (c->output[i].sink)
            rtl_sink_close(c->output[i].sink, false, (char[8]){0}, 8);
    rtl_export_end(e);
    return status;
}

static int parse_export(struct export_request *c, int argc, char **argv)
{
    static const char needs[] = "a file to write, or - for standard output";
    const struct rtl_own_value own[RTL_EXPORT_OWN_COUNT] = {
        [RTL_EXPORT_PERFETTO] = {.text = &c->output[0].path, .needs = needs},
        [RTL_EXPORT_CSV] = {.text = &c->output[1].path, .needs = needs},
        [RTL_EXPORT_ROCPROFV3] = {.text = &c->output[2].path, .needs = needs},
        [RTL_EXPORT_FORCE] = {.flag = &c->force},
    };
    struct rtl_arguments a;
    *c = (struct export_request){
        .output = {{.write = rtl_export_perfetto}, {.write = rtl_export_csv}, {.write = rtl_export_rocprofv3}}};
    int status = rtl_arguments_read(&a, RTL_COMMAND_EXPORT, false, own, NULL, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (argc - a.first != 1 || !*argv[a.first] || (!c->output[0].path && !c->output[1].path && !c->output[2].path))
        return RTL_WRONG("%s needs a trace and an output: rtl-top export FILE.db --perfetto OUT.json.gz", argv[0]);
    c->file = argv[a.first];
    int printed = -1;
    for (int i = 0; i < OUTPUTS; i++) {
        if (!c->output[i].path || !rtl_outfile_is_standard_output(c->output[i].path))
            continue;
        if (printed >= 0)
            return RTL_WRONG("--%s and --%s can't both be standard output: one of them needs a file",
                             rtl_command_option(RTL_COMMAND_EXPORT, RTL_EXPORT_PERFETTO + printed)->name,
                             rtl_command_option(RTL_COMMAND_EXPORT, RTL_EXPORT_PERFETTO + i)->name);
        printed = i;
    }
    return RTL_GO_ON;
}

int rtl_export_command(int argc, char **argv)
{
    char why[512];
    struct export_request command;
    struct rtl_export e = {0};
    int status = parse_export(&command, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    rtl_db_stop_when(rtl_progress_tick);
    rtl_progress_begin("reading", command.file);
    status = (int)rtl_db_open(command.file, &(struct rtl_db_options){.foreign = true}, &e.db, why, sizeof why);
    if (status)
        return rtl_refuse(status, "%s", why);
    rtl_progress_end();
    status = write_outputs(&command, &e);
    rtl_db_close(e.db);
    return status;
}
