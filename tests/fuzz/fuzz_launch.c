/*
 * libFuzzer target: what rtl-top run, env and check read before they start a program: program files, the lists in
 * HSA_TOOLS_LIB and LD_PRELOAD, the output of the loader.
 *
 * The first byte selects one of them. Names stay terminated and within bounds, work ends, and appending a library to a
 * list keeps the list and puts the library last.
 *
 * fuzz: -timeout=5 -rss_limit_mb=512 -max_len=4096
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "launch/library.h"
#include "launch/runtime_release.h"
#include "shm/elf_file.h"

static void try_elf(const uint8_t *data, size_t size)
{
    static struct rtl_elf_file elf;
    char path[40], why[100] = "";
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (rtl_elf_read(path, &elf, why, sizeof why)) {
        MUST(elf.elf || (!elf.native && !elf.needed_count));
        MUST(elf.needed_count <= RTL_ELF_NEEDED_MAX);
        for (unsigned i = 0; i < elf.needed_count; i++)
            MUST(elf.needed[i][0] && strnlen(elf.needed[i], sizeof elf.needed[i]) < sizeof elf.needed[i]);
        MUST(strnlen(elf.interpreter, sizeof elf.interpreter) < sizeof elf.interpreter);
    } else {
        MUST(why[0]);
    }
    char text[9] = "";
    if (size >= 40) {
        memcpy(text, data + size - 9, 8);
        if (strlen(text) == 8 && !data[size - 1])
            MUST(rtl_elf_has(path, text));
    }
    close(fd);
}

static void try_tools(const char *list, size_t length)
{
    static const char library[] = "/a b/\"lib\\rtl.so";
    char *name = malloc(length + sizeof library), *other = malloc(length + sizeof library);
    char *appended = rtl_tools_append(list, library);
    const char *at = list, *again = appended;
    bool last_is_ours = false, ours = false;
    MUST(name && other && appended && rtl_tools_sane(appended));
    while (rtl_tools_next(&again, other, length + sizeof library)) {
        bool same;
        while ((same = rtl_tools_next(&at, name, length + sizeof library)) && rtl_tools_displaces(name, ""))
            ; /* removed: the new one replaces it */
        last_is_ours = !strcmp(other, library);
        ours |= last_is_ours;
        MUST(same ? !strcmp(name, other) : last_is_ours);
    }
    while (rtl_tools_next(&at, name, length + sizeof library))
        MUST(rtl_tools_displaces(name, ""));
    MUST(ours);
    free(appended);
    free(other);
    free(name);
}

static void try_preload(const char *list, size_t length)
{
    static const char library[] = "/a/librtl-hip.so";
    char *name = malloc(length + 1), *other = malloc(length + sizeof library);
    char *appended = rtl_preload_append(list, library);
    const char *at = list, *again = appended;
    bool ours = false;
    MUST(name && other && appended && rtl_preload_can_hold(library));
    while (rtl_preload_next(&again, other, length + sizeof library)) {
        bool same;
        while ((same = rtl_preload_next(&at, name, length + 1)) && rtl_preload_same_kind(name, library) &&
               strcmp(name, library))
            ; /* removed: the new one replaces it */
        MUST(same ? !strcmp(name, other) : !strcmp(other, library));
        ours |= !strcmp(other, library);
    }
    while (rtl_preload_next(&at, name, length + 1))
        MUST(rtl_preload_same_kind(name, library));
    MUST(ours);
    free(appended);
    free(other);
    free(name);
}

static void try_list(const char *list)
{
    char where[64], line[64];
    for (const char *at = list; rtl_loader_find(&at, "lib", where, sizeof where);)
        MUST(!*where || *where == '/');
    if (rtl_loader_complaint(list, line, sizeof line))
        MUST(strlen(line) < sizeof line && !strchr(line, '\n'));
    struct rtl_runtime_release release;
    rtl_runtime_release_read(0, list, &release);
    MUST(release.name[0] && strnlen(release.name, sizeof release.name) < sizeof release.name);
    MUST(!rtl_runtime_overwrites(&release) || release.rocm / 100 == 702);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] == 'E') {
        try_elf(data + 1, size - 1);
        return 0;
    }
    char *text = strndup((const char *)data + 1, size - 1);
    MUST(text);
    if (data[0] == 'T')
        try_tools(text, size);
    else if (data[0] == 'P')
        try_preload(text, size);
    else
        try_list(text);
    free(text);
    return 0;
}
