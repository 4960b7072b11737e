/*
 * Code objects of the stand-in for the runtime: executable H has one kernel, whose name and address follow from H. The
 * test defines the number of addresses, PLACES, and of names, NAMES; later executables reuse addresses.
 */
#ifndef CODE_OBJECTS_H
#define CODE_OBJECTS_H

#include "runtime_fixture.h"

#include <stdio.h>

static uint64_t object_of(uint64_t executable)
{
    return 0x100000 + executable % PLACES * 64;
}

static hsa_status_t one_symbol(hsa_executable_t executable,
                               hsa_status_t (*see)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
    return see(executable, (hsa_executable_symbol_t){executable.handle}, data);
}

static hsa_status_t about_symbol(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *answer)
{
    char name[16];
    int length = snprintf(name, sizeof name, "k%03u.kd", (unsigned)(symbol.handle % NAMES));
    if (what == HSA_EXECUTABLE_SYMBOL_INFO_TYPE)
        *(hsa_symbol_kind_t *)answer = HSA_SYMBOL_KIND_KERNEL;
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH)
        *(uint32_t *)answer = (uint32_t)length;
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME)
        memcpy(answer, name, (size_t)length);
    else
        *(uint64_t *)answer = object_of(symbol.handle);
    return HSA_STATUS_SUCCESS;
}

/* Fill the tables before the library is loaded. */
static void fill_symbols(void)
{
    core.slot[93] = (void *)about_symbol;
    core.slot[94] = (void *)one_symbol;
}

#endif
