/*
 * The kernels of real programs (tests/fixtures/kernels.tsv): each has the recorded short name, fits any width, and rows
 * of a program are distinct. RTL_GOLDEN=write writes the short names; review their diff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/names.h"

enum { MOST = 1000, COLUMNS = 4 };
static const char path[] = "tests/fixtures/kernels.tsv";
static struct {
    char *line, *column[COLUMNS]; /* program, dispatches, name, short name */
} kernels[MOST];
static char *comments[MOST];
static size_t kernel_count, comment_count;

static int load(void **state)
{
    (void)state;
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s can't be opened: unit tests run in the top folder of the sources", path);
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        assert_true(kernel_count < MOST && comment_count < MOST);
        if (*line == '#') {
            comments[comment_count++] = strdup(line);
            continue;
        }
        kernels[kernel_count].line = strdup(line);
        char *rest = kernels[kernel_count].line;
        for (int c = 0; c < COLUMNS; c++) {
            kernels[kernel_count].column[c] = strsep(&rest, "\t");
            assert_non_null(kernels[kernel_count].column[c]);
        }
        kernel_count++;
    }
    free(line);
    fclose(file);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    for (size_t i = 0; i < kernel_count; i++)
        free(kernels[i].line);
    for (size_t i = 0; i < comment_count; i++)
        free(comments[i]);
    return 0;
}

static void short_names_equal_the_recorded_ones(void **state)
{
    (void)state;
    const char *write = getenv("RTL_GOLDEN");
    FILE *file = write && !strcmp(write, "write") ? fopen(path, "w") : NULL;
    for (size_t i = 0; file && i < comment_count; i++)
        fprintf(file, "%s\n", comments[i]);
    assert_true(kernel_count > 150);
    for (size_t i = 0; i < kernel_count; i++) {
        const char *raw = kernels[i].column[2];
        char *full = rtl_name_full(raw, strlen(raw)), *brief = full ? rtl_name_short(raw, full) : NULL;
        assert_non_null(brief);
        assert_true(*brief);
        if (file)
            fprintf(file, "%s\t%s\t%s\t%s\n", kernels[i].column[0], kernels[i].column[1], raw, brief);
        else if (strcmp(brief, kernels[i].column[3]))
            fail_msg("%s\nis shortened to %s\nand not to     %s", raw, brief, kernels[i].column[3]);
        free(full);
        free(brief);
    }
    if (file)
        fclose(file);
}

static int columns(const char *text) /* these names have no wide characters */
{
    int n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

static void rows_of_a_program_are_distinct(void **state)
{
    (void)state;
    static const int widths[] = {16, 34, 80, 200};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t first = 0, end; first < kernel_count; first = end) {
            struct rtl_names *names = rtl_names_create();
            char *cell[MOST];
            assert_non_null(names);
            for (end = first; end < kernel_count && !strcmp(kernels[end].column[0], kernels[first].column[0]); end++) {
                const char *raw = kernels[end].column[2];
                cell[end] =
                    strdup(rtl_names_cell(names, (uint32_t)end, raw, strlen(raw), RTL_NAME_SHORT, widths[w], false));
                assert_true(columns(cell[end]) <= widths[w]);
                for (size_t i = first; i < end; i++)
                    if (!strcmp(cell[i], cell[end]))
                        fail_msg("in %d columns both are %s:\n%s\n%s", widths[w], cell[end], kernels[i].column[2], raw);
            }
            for (size_t i = first; i < end; i++)
                free(cell[i]);
            rtl_names_free(names);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_names_equal_the_recorded_ones),
        cmocka_unit_test(rows_of_a_program_are_distinct),
    };
    return cmocka_run_group_tests_name("names_real", tests, load, unload);
}
