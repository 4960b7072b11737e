// intercept_table_layout.cc - compares the slots of intercept/base/hsa_table.h with the runtime's own header for tools,
// which is C++ only. Compiling is the test.
#include <cstddef>
#include <hsa/hsa_api_trace.h>

#include "intercept/base/hsa_table.h"

// The shift that rtl_hsa_shift returns for this header's table.
static constexpr std::size_t slots = (sizeof(AmdExtTable) - sizeof(ApiTableVersion)) / sizeof(void *);
static_assert(slots <= 51 || slots >= 55, "a release whose layout rtl_hsa_shift refuses");
static constexpr std::size_t shift = slots >= 55 ? 2 : 0;

#define CORE(field)  CoreApiTable, hsa_##field##_fn
#define EXT(field)   AmdExtTable, hsa_##field##_fn
#define MOVED(field) AmdExtTable, hsa_##field##_fn
enum { SHIFT_CORE = 0, SHIFT_EXT = 0, SHIFT_MOVED = shift };
#define OFFSET(where) offsetof(where)
#define CHECK(field, table, slot, arguments) \
    static_assert(OFFSET(table(field)) == sizeof(ApiTableVersion) + ((slot) + SHIFT_##table) * sizeof(void *), #field);
RTL_HSA_FUNCTIONS(CHECK)
RTL_HSA_ACTIONS(CHECK)
RTL_HSA_PROBING(CHECK)

// The types of hsa_table.h must be the runtime's, by name or by shape.
template <typename A, typename B> struct same {
    static constexpr bool value = false;
};
template <typename A> struct same<A, A> {
    static constexpr bool value = true;
};
static_assert(same<rtl_packet_writer, hsa_amd_queue_intercept_packet_writer>::value, "writer");
static_assert(same<rtl_packet_handler, hsa_amd_queue_intercept_handler>::value, "handler");
#define TYPE(field, table, slot, arguments) \
    static_assert(same<decltype(rtl_hsa::field), decltype(hsa_##field) *>::value, #field " has other arguments");
RTL_HSA_FUNCTIONS(TYPE)
RTL_HSA_ACTIONS(TYPE)
RTL_HSA_PROBING(TYPE)
int main()
{
    return 0;
}
