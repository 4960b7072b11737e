/* Reading a code object's symbols with hostile names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "probe/code_object.h"

/* Overlapping names, each too long: the number of bytes read is bounded all the same. */
static void overlapping_symbol_names_are_bounded(void **unused)
{
    enum { SYMBOLS = 4000, FEW = 100, NAMES = SYMBOLS * sizeof(Elf64_Sym), LAST = RTL_CODE_NAME_MAX + 1 };
    static const char name[] = "sum.kd";
    const Elf64_Sym last = {.st_name = LAST, .st_info = STT_OBJECT, .st_value = 0x40}, other = {.st_name = 1};
    uint8_t *bytes = calloc(1, NAMES + LAST + sizeof name);
    uint64_t address = 0;
    (void)unused;
    assert_non_null(bytes);
    for (size_t i = 0; i < SYMBOLS; i++)
        memcpy(bytes + i * sizeof last, i + 1 < SYMBOLS ? &other : &last, sizeof last);
    memset(bytes + NAMES + 1, 'x', LAST - 1);
    memcpy(bytes + NAMES + LAST, name, sizeof name);
    struct rtl_code_object object = {.bytes = bytes,
                                     .size = NAMES + LAST + sizeof name,
                                     .symbol_count = SYMBOLS,
                                     .strings = NAMES,
                                     .string_bytes = LAST + sizeof name};
    assert_false(rtl_code_find_kernel(&object, "sum", &address));
    object.symbols = (SYMBOLS - FEW) * sizeof last; /* after so few it is found */
    object.symbol_count = FEW;
    assert_true(rtl_code_find_kernel(&object, "sum", &address));
    assert_int_equal(address, 0x40);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_symbol_names_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
