/*
 * rtl-top names: prints the names that the screen would show for a list of kernel names, one per line, in order.
 *
 * As on the screen, each name is made unique among the names before it, and equal names are one row.
 */
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
    struct rtl_options options; /* form of names, and ASCII */
    int width;
    bool family;
    uint32_t count;
    char *lines[RTL_KERNELS_MAX];
    uint32_t table[TABLE_SIZE]; /* 1 + index in `lines`; 0 = free */
};

static int parse_names(struct name_list *l, int argc, char **argv)
{
    uint64_t width = 0;
    const struct rtl_own_value own[RTL_NAMES_OWN_COUNT] = {
        [RTL_NAMES_WIDTH] = {.number = &width, .least = 1, .most = WIDTH_MAX, .needs = "columns from 1 to "},
        [RTL_NAMES_FAMILY] = {.flag = &l->family},
    };
    struct rtl_arguments a;
    rtl_options_default(&l->options);
    l->options.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    int status = rtl_arguments_read(&a, RTL_COMMAND_NAMES, false, own, &l->options, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    l->width = width ? (int)width : RTL_NAMES_WHOLE;
    if (a.first < argc)
        return RTL_WRONG("rtl-top names reads standard input, not '%s': rtl-top names <FILE", argv[a.first]);
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
        if (!c)
            return rtl_refuse(NO_LINE, "line %llu contains a zero byte: this is not a list of names",
                              (unsigned long long)number);
        if (length == LINE_MAX_BYTES)
            return rtl_refuse(NO_LINE, "line %llu has more than %d bytes: this is not a kernel's name",
                              (unsigned long long)number, LINE_MAX_BYTES);
        line[length++] = (char)c;
    }
    line[length] = '\0';
    if (ferror(stdin))
        return rtl_refuse(NO_LINE, "cannot read standard input: %s", strerror(errno));
    return c == EOF && !length ? AT_END : length;
}

static int print_names(struct name_list *l)
{
    char *line = malloc(LINE_MAX_BYTES + 1);
    if (!line)
        return RTL_WRONG("out of memory");
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
        puts(rtl_names_cell(l->names, id, raw, (size_t)length, l->options.names, l->width, l->options.ascii));
    }
    free(line);
    return rtl_exit_status(length == NO_LINE ? RTL_READER_USAGE : 0);
}

int rtl_names_command(int argc, char **argv)
{
    struct name_list *l = calloc(1, sizeof *l);
    if (!l || !(l->names = rtl_names_create())) {
        free(l);
        return RTL_WRONG("out of memory");
    }
    int status = parse_names(l, argc, argv);
    if (status == RTL_GO_ON)
        status = print_names(l);
    rtl_names_free(l->names);
    for (uint32_t i = 0; i < l->count; i++)
        free(l->lines[i]);
    free(l);
    return status;
}
