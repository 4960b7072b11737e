/*
 * rtl-top names: prints the names that the screen would show for a list of kernel names, one per line, in order.
 *
 * As on the screen, each name is made unique among the names before it, and equal names are one row.
 */
#include "record/db.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/hash.h"
#include "shm/segment_reader.h"
#include "text/names.h"

#include <errno.h>
#include <langinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 64 << 10, WIDTH_MAX = 10000, TABLE_SIZE = 4 * RTL_KERNELS_MAX };

struct name_list {
    struct rtl_names *names;
    enum rtl_name_form form;
    int width;
    bool ascii, family;
    uint32_t count;
    char *lines[RTL_KERNELS_MAX];
    uint32_t table[TABLE_SIZE]; /* 1 + index in `lines`; 0 = free */
};

static int parse_names(struct name_list *l, int argc, char **argv)
{
    struct rtl_arguments a;
    int status;
    rtl_arguments_begin(&a, RTL_COMMAND_NAMES, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;) {
        uint64_t width;
        switch (o) {
        case RTL_NAMES_WIDTH:
            if (!rtl_parse_number(a.value, 1, WIDTH_MAX, &width)) {
                rtl_complain("-w needs columns from 1 to %d, not '%s'", WIDTH_MAX, a.value);
                return RTL_READER_USAGE;
            }
            l->width = (int)width;
            break;
        case RTL_SHARED + RTL_OPTION_NAMES:
            if (!rtl_name_form_parse(a.value, &l->form)) {
                rtl_complain("--names needs short, template, full or mangled, not '%s'", a.value);
                return RTL_READER_USAGE;
            }
            break;
        case RTL_NAMES_FAMILY:
            l->family = true;
            break;
        case RTL_SHARED + RTL_OPTION_ASCII:
            l->ascii = true;
            break;
        default:
            break;
        }
    }
    if (rtl_arguments_done(&a, &status))
        return status;
    if (a.first < argc) {
        rtl_complain("rtl-top names reads standard input, not '%s': rtl-top names <FILE", argv[a.first]);
        return RTL_READER_USAGE;
    }
    return RTL_GO_ON;
}

/* Returns the index of the line, which equal lines share. False if there are too many, or without memory. */
static bool find_or_add_line(struct name_list *l, const char *line, uint32_t *number)
{
    uint32_t at = (uint32_t)(rtl_hash(line, strlen(line)) % TABLE_SIZE);
    while (l->table[at] && strcmp(l->lines[l->table[at] - 1], line) != 0)
        at = (at + 1) % TABLE_SIZE;
    if (!l->table[at]) {
        char *copy = l->count < RTL_KERNELS_MAX ? strdup(line) : NULL;
        if (!copy) {
            if (l->count == RTL_KERNELS_MAX)
                rtl_complain("more than %d different names: give fewer", RTL_KERNELS_MAX);
            else
                rtl_complain("out of memory");
            return false;
        }
        l->lines[l->count++] = copy;
        l->table[at] = l->count;
    }
    *number = l->table[at] - 1;
    return true;
}

enum { AT_END = -1, NO_LINE = -2 };

/* Reads a line without its end and returns its length; AT_END, or NO_LINE after a complaint. */
static long read_name(char *line, uint64_t number)
{
    long length = 0;
    int c;
    while ((c = getc(stdin)) != EOF && c != '\n') {
        if (!c) {
            rtl_complain("line %llu contains a zero byte: this is not a list of names", (unsigned long long)number);
            return NO_LINE;
        }
        if (length == LINE_MAX_BYTES) {
            rtl_complain("line %llu has more than %d bytes: this is not a kernel's name", (unsigned long long)number,
                         LINE_MAX_BYTES);
            return NO_LINE;
        }
        line[length++] = (char)c;
    }
    line[length] = '\0';
    if (ferror(stdin)) {
        rtl_complain("cannot read standard input: %s", strerror(errno));
        return NO_LINE;
    }
    return c == EOF && !length ? AT_END : length;
}

static int print_names(struct name_list *l)
{
    char *line = malloc(LINE_MAX_BYTES + 1);
    if (!line) {
        rtl_complain("out of memory");
        return RTL_READER_USAGE;
    }
    if (isatty(STDIN_FILENO))
        rtl_complain("reading names from the terminal, one a line; Ctrl-D ends");
    long length = 0;
    uint32_t id;
    /* the input may be endless: stop when the output fails */
    for (uint64_t number = 1; !ferror(stdout) && (length = read_name(line, number)) >= 0; number++) {
        if (!length) {
            putchar('\n');
            continue;
        }
        if (!find_or_add_line(l, line, &id)) {
            length = NO_LINE;
            break;
        }
        const char *raw = l->lines[id];
        if (l->family)
            printf("%s\t", rtl_name_family_name(rtl_names_family(l->names, id, raw, (size_t)length)));
        puts(rtl_names_cell(l->names, id, raw, (size_t)length, l->form, l->width, l->ascii));
    }
    free(line);
    if (!rtl_stdout_written())
        return RTL_DB_FULL;
    return length == NO_LINE ? RTL_READER_USAGE : 0;
}

int rtl_names_command(int argc, char **argv)
{
    struct name_list *l = calloc(1, sizeof *l);
    int status = RTL_READER_USAGE;
    if (l)
        l->names = rtl_names_create();
    if (!l || !l->names) {
        rtl_complain("out of memory");
        free(l);
        return status;
    }
    l->width = RTL_NAMES_WHOLE;
    status = parse_names(l, argc, argv);
    l->ascii |= strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    if (status == RTL_GO_ON)
        status = print_names(l);
    rtl_names_free(l->names);
    for (uint32_t i = 0; i < l->count; i++)
        free(l->lines[i]);
    free(l);
    return status;
}
