/* Writes the code of a probe as files (--keep). See probe_report.h. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"
#include "command/probe_report.h"
#include "record/db.h"
#include "record/outfile.h"
#include "options/complain.h"
#include "shm/hash.h"

enum { ORIGINAL, PROBED, TEXT };
static const char *const file_names[RTL_PROBE_FILES] = {"original.co", "probed.co", "probe.txt"};

int rtl_probe_keep_open(struct rtl_probe_keep *k, const char *folder, bool force)
{
    char why[512], path[PATH_MAX + 16];
    *k = (struct rtl_probe_keep){.folder = folder, .force = force};
    if (strlen(folder) >= PATH_MAX)
        return RTL_WRONG("--keep: the name of the folder is too long");
    if (mkdir(folder, 0777) && errno != EEXIST)
        return rtl_refuse(RTL_DB_PATH, "--keep %s: %s", folder, strerror(errno));
    for (int i = 0; i < RTL_PROBE_FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, file_names[i]);
        k->file[i] = rtl_outfile_open(path, &(struct rtl_outfile_options){.force = force}, why, sizeof why);
        if (!k->file[i])
            return rtl_refuse(RTL_DB_PATH, "%s", why);
    }
    return 0;
}

void rtl_probe_keep_close(struct rtl_probe_keep *k)
{
    for (int i = 0; i < RTL_PROBE_FILES; i++)
        rtl_outfile_close(k->file[i]);
}

static int write_file(struct rtl_probe_keep *k, int which, const void *bytes, size_t size)
{
    char why[512];
    if (!rtl_write_all(rtl_outfile_fd(k->file[which]), bytes, size))
        return rtl_refuse(RTL_DB_FULL, "cannot write to %s/%s: %s", k->folder, file_names[which], strerror(errno));
    if (rtl_outfile_place(k->file[which], why, sizeof why))
        return 0;
    return rtl_refuse(RTL_DB_PATH, "%s", why);
}

/* Removes the file of an earlier probe, which only --force allows to exist; it would look like this probe's. */
static int remove_old(struct rtl_probe_keep *k, int which)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", k->folder, file_names[which]);
    if (!k->force || !rtl_outfile_is_file(k->file[which]) || !unlink(path) || errno == ENOENT)
        return 0;
    return rtl_refuse(RTL_DB_PATH, "cannot remove %s: %s", path, strerror(errno));
}

/* Describes both code objects and the result. */
static void describe(FILE *out, const struct rtl_probe_report *r, const struct rtl_probe_fetch_copy *original)
{
    const struct rtl_probe_session *s = r->session;
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(s);
    fprintf(out, "process %d: %s\nkernel: %s\nmangled: %s\n", (int)r->pid, r->title, r->name, r->mangled);
    if (gpu)
        fprintf(out, "GPU %u: %s\n", gpu->gpu, gpu->name);
    fprintf(out,
            "original.co: %zu bytes, hash %016" PRIx64 "; its descriptor is loaded at 0x%" PRIx64 "; %s\n"
            "pruned: no such stage, the original is patched unchanged\n",
            original->size, rtl_hash(original->bytes, original->size), original->object,
            original->compared ? "the code loaded there is identical" : "the memory there is not readable");
    if (s->patch.code)
        fprintf(out,
                "probed.co: %zu bytes, hash %016" PRIx64 "; its numbers go to 0x%" PRIx64 ", ends shifted by %" PRIu32
                "\n%" PRIu32 " instructions, %" PRIu32 " ends, %" PRIu32 " read the pc; the clock is kept in s%" PRIu32
                "; registers %" PRIu32 " -> %" PRIu32 "\n",
                s->patch.bytes, s->probing.code_hash, s->probing.state.block, s->probing.plan.ends_shift,
                s->patch.instructions, s->patch.ends, s->patch.pcs, s->patch.kept, s->patch.sgprs_before,
                s->patch.sgprs_after);
    else
        fprintf(out, "probed.co: there is none\n");
    if (s->patch.timed)
        fprintf(out, "%" PRIu32 " waits, %" PRIu32 " timed by this copy, the last of %" PRIu32 "\n", s->patch.waits,
                s->patch.timed, s->wish.round + 1);
    if (s->probing.refusal)
        fprintf(out, "refused: +0x%" PRIx64 " %08" PRIx32 ": %s\n", s->patch.at, s->patch.word,
                rtl_probe_refusal_text(s->probing.refusal));
    fprintf(out, "%s\n", r->why);
}

int rtl_probe_keep_write(struct rtl_probe_keep *k, const struct rtl_probe_report *r)
{
    const struct rtl_probe_fetch_copy *original = k->folder ? rtl_probe_session_original(r->session) : NULL;
    char *text = NULL;
    size_t size = 0;
    if (!original)
        return 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return RTL_WRONG("out of memory");
    describe(out, r, original);
    fclose(out);
    int status = write_file(k, ORIGINAL, original->bytes, original->size);
    if (!status)
        status = r->session->patch.code ? write_file(k, PROBED, r->session->patch.code, r->session->patch.bytes)
                                        : remove_old(k, PROBED);
    if (!status)
        status = write_file(k, TEXT, text, size);
    free(text);
    return status;
}
