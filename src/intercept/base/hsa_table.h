/*
 * The runtime's API table: the functions that the library uses, saved as typed pointers, and installing hooks.
 *
 * Only hsa_table.c knows the table's layout in each release. All other files call the runtime through struct rtl_hsa
 * and never through exported symbols: librtl.so links to no ROCm library.
 */
#ifndef RTL_INTERCEPT_HSA_TABLE_H
#define RTL_INTERCEPT_HSA_TABLE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of the intercept interface; the runtime's header for tools is C++ only. */
typedef void (*rtl_packet_writer)(const void *packets, uint64_t count);
typedef void (*rtl_packet_handler)(const void *packets, uint64_t count, uint64_t user_index, void *data,
                                   rtl_packet_writer writer);
typedef void (*rtl_queue_error)(hsa_status_t status, hsa_queue_t *source, void *data);

/* X(field, table, slot, arguments). Table CORE: never moved. EXT: before the two slots that release 5.6 inserted.
 * MOVED: behind them. The slot is that of release 5.2, counted from 0 behind the version. */
#define RTL_HSA_FUNCTIONS(X)                                                                                       \
    X(init, CORE, 0, (void))                                                                                       \
    X(shut_down, CORE, 1, (void))                                                                                  \
    X(system_get_info, CORE, 2, (hsa_system_info_t, void *))                                                       \
    X(iterate_agents, CORE, 5, (hsa_status_t(*)(hsa_agent_t, void *), void *))                                     \
    X(agent_get_info, CORE, 6, (hsa_agent_t, hsa_agent_info_t, void *))                                            \
    X(queue_create, CORE, 7,                                                                                       \
      (hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t, hsa_queue_t **))    \
    X(queue_destroy, CORE, 9, (hsa_queue_t *))                                                                     \
    X(signal_create, CORE, 37, (hsa_signal_value_t, uint32_t, const hsa_agent_t *, hsa_signal_t *))                \
    X(signal_destroy, CORE, 38, (hsa_signal_t))                                                                    \
    X(executable_destroy, CORE, 84, (hsa_executable_t))                                                            \
    X(executable_freeze, CORE, 86, (hsa_executable_t, const char *))                                               \
    X(executable_symbol_get_info, CORE, 93, (hsa_executable_symbol_t, hsa_executable_symbol_info_t, void *))       \
    X(executable_iterate_symbols, CORE, 94,                                                                        \
      (hsa_executable_t, hsa_status_t(*)(hsa_executable_t, hsa_executable_symbol_t, void *), void *))              \
    X(status_string, CORE, 95, (hsa_status_t, const char **))                                                      \
    X(amd_profiling_set_profiler_enabled, EXT, 2, (hsa_queue_t *, int))                                            \
    X(amd_profiling_async_copy_enable, EXT, 3, (bool))                                                             \
    X(amd_profiling_get_async_copy_time, EXT, 5, (hsa_signal_t, hsa_amd_profiling_async_copy_time_t *))            \
    X(amd_profiling_convert_tick_to_system_domain, EXT, 6, (hsa_agent_t, uint64_t, uint64_t *))                    \
    X(amd_queue_cu_set_mask, EXT, 10, (const hsa_queue_t *, uint32_t, const uint32_t *))                           \
    X(amd_memory_async_copy, EXT, 15,                                                                              \
      (void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t, const hsa_signal_t *, hsa_signal_t))      \
    X(amd_signal_create, MOVED, 31, (hsa_signal_value_t, uint32_t, const hsa_agent_t *, uint64_t, hsa_signal_t *)) \
    X(amd_register_system_event_handler, MOVED, 34, (hsa_amd_system_event_callback_t, void *))                     \
    X(amd_queue_intercept_create, MOVED, 35,                                                                       \
      (hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t, hsa_queue_t **))    \
    X(amd_queue_intercept_register, MOVED, 36, (hsa_queue_t *, rtl_packet_handler, void *))                        \
    X(amd_queue_set_priority, MOVED, 37, (hsa_queue_t *, hsa_amd_queue_priority_t))                                \
    X(amd_memory_async_copy_rect, MOVED, 38,                                                                       \
      (const hsa_pitched_ptr_t *, const hsa_dim3_t *, const hsa_pitched_ptr_t *, const hsa_dim3_t *,               \
       const hsa_dim3_t *, hsa_agent_t, hsa_amd_copy_direction_t, uint32_t, const hsa_signal_t *, hsa_signal_t))

/* Functions that return nothing. */
#define RTL_HSA_ACTIONS(X)                                                          \
    X(queue_store_write_index_relaxed, CORE, 15, (const hsa_queue_t *, uint64_t))   \
    X(queue_store_write_index_screlease, CORE, 16, (const hsa_queue_t *, uint64_t)) \
    X(signal_store_relaxed, CORE, 41, (hsa_signal_t, hsa_signal_value_t))           \
    X(signal_store_screlease, CORE, 42, (hsa_signal_t, hsa_signal_value_t))         \
    X(signal_silent_store_relaxed, CORE, 102, (hsa_signal_t, hsa_signal_value_t))   \
    X(signal_silent_store_screlease, CORE, 103, (hsa_signal_t, hsa_signal_value_t))

/* Functions that return an index. */
#define RTL_HSA_INDICES(X)                                                                    \
    X(queue_load_write_index_scacquire, CORE, 13, (const hsa_queue_t *))                      \
    X(queue_load_write_index_relaxed, CORE, 14, (const hsa_queue_t *))                        \
    X(queue_cas_write_index_scacq_screl, CORE, 17, (const hsa_queue_t *, uint64_t, uint64_t)) \
    X(queue_cas_write_index_scacquire, CORE, 18, (const hsa_queue_t *, uint64_t, uint64_t))   \
    X(queue_cas_write_index_relaxed, CORE, 19, (const hsa_queue_t *, uint64_t, uint64_t))     \
    X(queue_cas_write_index_screlease, CORE, 20, (const hsa_queue_t *, uint64_t, uint64_t))   \
    X(queue_add_write_index_scacq_screl, CORE, 21, (const hsa_queue_t *, uint64_t))           \
    X(queue_add_write_index_scacquire, CORE, 22, (const hsa_queue_t *, uint64_t))             \
    X(queue_add_write_index_relaxed, CORE, 23, (const hsa_queue_t *, uint64_t))               \
    X(queue_add_write_index_screlease, CORE, 24, (const hsa_queue_t *, uint64_t))

/* Functions that only a probe needs (worker/probe_resources.h). Where one is NULL no kernel can be probed. */
#define RTL_HSA_PROBING(X)                                                                                            \
    X(code_object_reader_create_from_memory, CORE, 116, (const void *, size_t, hsa_code_object_reader_t *))           \
    X(code_object_reader_destroy, CORE, 117, (hsa_code_object_reader_t))                                              \
    X(executable_create_alt, CORE, 118,                                                                               \
      (hsa_profile_t, hsa_default_float_rounding_mode_t, const char *, hsa_executable_t *))                           \
    X(executable_load_agent_code_object, CORE, 120,                                                                   \
      (hsa_executable_t, hsa_agent_t, hsa_code_object_reader_t, const char *, hsa_loaded_code_object_t *))            \
    X(amd_memory_pool_get_info, EXT, 11, (hsa_amd_memory_pool_t, hsa_amd_memory_pool_info_t, void *))                 \
    X(amd_agent_iterate_memory_pools, EXT, 12, (hsa_agent_t, hsa_status_t(*)(hsa_amd_memory_pool_t, void *), void *)) \
    X(amd_memory_pool_allocate, EXT, 13, (hsa_amd_memory_pool_t, size_t, uint32_t, void **))                          \
    X(amd_memory_pool_free, EXT, 14, (void *))                                                                        \
    X(amd_agents_allow_access, MOVED, 17, (uint32_t, const hsa_agent_t *, const uint32_t *, const void *))

/* Functions of newer releases, NULL where the runtime has none: X(field, slot, arguments), with the newer slot
 * number. Older headers lack the enum of engines. */
#define RTL_HSA_LATER(X)                                                                                          \
    X(amd_memory_async_copy_on_engine, 16,                                                                        \
      (void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t, const hsa_signal_t *, hsa_signal_t, int, \
       bool))

#define RTL_HSA_FIELD(field, table, slot, arguments)        hsa_status_t(*field) arguments;
#define RTL_HSA_ACTION_FIELD(field, table, slot, arguments) void(*field) arguments;
#define RTL_HSA_INDEX_FIELD(field, table, slot, arguments)  uint64_t(*field) arguments;
#define RTL_HSA_LATER_FIELD(field, slot, arguments)         hsa_status_t(*field) arguments;
/* The functions without our hooks: the runtime's own, or those of a tool loaded before us. */
struct rtl_hsa {
    RTL_HSA_FUNCTIONS(RTL_HSA_FIELD)
    RTL_HSA_ACTIONS(RTL_HSA_ACTION_FIELD)
    RTL_HSA_INDICES(RTL_HSA_INDEX_FIELD)
    RTL_HSA_PROBING(RTL_HSA_FIELD)
    RTL_HSA_LATER(RTL_HSA_LATER_FIELD)
    uint32_t root_major, core_bytes, ext_bytes, ext_step; /* versions of the tables */
};
#undef RTL_HSA_FIELD
#undef RTL_HSA_ACTION_FIELD
#undef RTL_HSA_INDEX_FIELD
#undef RTL_HSA_LATER_FIELD

#define RTL_HSA_ENUM(field, table, slot, arguments) RTL_HSA_##field,
#define RTL_HSA_LATER_ENUM(field, slot, arguments)  RTL_HSA_##field,
enum rtl_hsa_function {
    RTL_HSA_FUNCTIONS(RTL_HSA_ENUM) RTL_HSA_ACTIONS(RTL_HSA_ENUM) RTL_HSA_INDICES(RTL_HSA_ENUM)
        RTL_HSA_PROBING(RTL_HSA_ENUM) RTL_HSA_LATER(RTL_HSA_LATER_ENUM) RTL_HSA_COUNT
};
#undef RTL_HSA_ENUM
#undef RTL_HSA_LATER_ENUM

/* Return how many slots further than in release 5.2 the MOVED slots are, by the table's size: 0 or 2; -1 if the size
 * is ambiguous. */
int rtl_hsa_shift(uint32_t ext_bytes);

/* True for a release that may call a handler with several packets: none up to 7.0 does. */
bool rtl_hsa_may_batch(uint32_t ext_bytes);

/* Save the functions. False, and one line in `why`, when the table is unknown or lacks a needed function. */
bool rtl_hsa_save(const void *table, struct rtl_hsa *hsa, char *why, size_t why_bytes);

/* True if the runtime has all functions that a probe needs. */
bool rtl_hsa_can_probe(const struct rtl_hsa *hsa);

/* Install a hook in the runtime's table, if it has that function. Only from OnLoad. */
void rtl_hsa_hook(void *table, enum rtl_hsa_function function, void (*hook)(void));
#define RTL_HSA_HOOK(table, field, hook) rtl_hsa_hook(table, RTL_HSA_##field, (void (*)(void))(hook))
/* Install hook_FIELD in `table`, a parameter of the calling function. */
#define RTL_HSA_HOOK_FIELD(field) RTL_HSA_HOOK(table, field, hook_##field);
/* The functions that change a queue's write index, and so reserve slots. */
#define RTL_HSA_RESERVING(STORE, CAS, ADD)   \
    STORE(queue_store_write_index_relaxed)   \
    STORE(queue_store_write_index_screlease) \
    CAS(queue_cas_write_index_scacq_screl)   \
    CAS(queue_cas_write_index_scacquire)     \
    CAS(queue_cas_write_index_relaxed)       \
    CAS(queue_cas_write_index_screlease)     \
    ADD(queue_add_write_index_scacq_screl)   \
    ADD(queue_add_write_index_scacquire)     \
    ADD(queue_add_write_index_relaxed)       \
    ADD(queue_add_write_index_screlease)

/* Return the slots of the runtime's amd_ext table, all of them functions, and their number. Only from OnLoad. */
void (**rtl_hsa_ext_slots(void *table, uint32_t *count))(void);

/* Hook a function of the newest releases whose slot in the table differs between them and does not follow from the
 * table's version (table_slot_check.c): the runtime's exported function of that name shows the slot. Returns the
 * previous pointer in the slot, or NULL if the function isn't hooked; *maybe then says whether the runtime may have it
 * all the same. Only from OnLoad, where no other thread calls it. */
void (*rtl_hsa_hook_exported(void *table, const char *name, void (*hook)(void), bool *maybe))(void);

#endif
