/*
 * Finds the coordinates of a worker in its server ("DP1_TP0_EP1"). Gives each process a name that no other process of
 * the snapshot has, and its peer group: the workers that it is compared with. Pure; titles and labels are untrusted.
 */
#ifndef RTL_MODEL_MEMBER_NAMES_H
#define RTL_MODEL_MEMBER_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct rtl_member;

/*
 * The dimensions in which servers split a model, in the order of a label. vLLM and SGLang write the letters into the
 * titles of their workers. X(letters, place): workers are compared along the dimension with the lowest place in which
 * they differ. Place 0: the coordinate follows from the others.
 */
#define RTL_COORDINATES(X) \
    X("NP", 10)            \
    X("DP", 7)             \
    X("RP", 8)             \
    X("PP", 9)             \
    X("PCP", 2)            \
    X("CP", 3)             \
    X("SP", 4)             \
    X("CFG", 5)            \
    X("FS", 6)             \
    X("TP", 1)             \
    X("DCP", 0)            \
    X("EP", 0)
#define RTL_ONE_COORDINATE(...) +1
enum { RTL_COORDINATE_COUNT = 0 RTL_COORDINATES(RTL_ONE_COORDINATE) };
#undef RTL_ONE_COORDINATE

struct rtl_coordinates {
    uint32_t set; /* bits by row of the table */
    uint32_t number[RTL_COORDINATE_COUNT];
};

/* Find the coordinates in a title or label: "VLLM::Worker_DP1_TP0", "VllmWorker TP0". If letters are repeated, the
 * first ones count. */
struct rtl_coordinates rtl_coordinates_find(const char *text, size_t length);

/* Write "DP1_TP0_EP1"; "" without coordinates. Those that don't fit are left out. */
void rtl_coordinates_text(const struct rtl_coordinates *coordinates, char *out, size_t size);

/* Return the number of the only coordinate that doesn't follow from others; -1 if there are several, or none. */
int rtl_coordinates_rank(const struct rtl_coordinates *coordinates);

/* Set `name` and `peer_group` of all members of a snapshot. A name is the label; or "G5", the GPU of a process without
 * a label; or the pid. "[pid]" follows equal names, but not the name of the only one of them that has not ended. */
void rtl_members_name(struct rtl_member *members, uint32_t count);

#endif
