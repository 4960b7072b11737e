/*
 * access.h - a lane's loads, stores and atomic operations, shared by flat and buffer instructions.
 */
#ifndef VGPU_GCN_ACCESS_H
#define VGPU_GCN_ACCESS_H

#include "atomic.h"
#include "wave.h"

/* The transfer of an instruction: one row of a table. */
struct gcn_access {
    uint8_t bytes;    /* in memory: 1, 2 or a multiple of 4 */
    bool store, sext; /* not store: load; sext: sign extended */
    uint8_t d16;      /* 1: low half of the register, 2: high half; the other half is kept (stores read that half) */
    enum gcn_atomic atomic;
};

/* Look up an instruction by its name after flat_ or buffer_. */
bool gcn_access_of(enum gcn_op op, struct gcn_access *what);
/* Move dword number `part` (or a smaller value) between register and memory. */
void gcn_access_part(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                     unsigned part, char *at);
/* A load into LDS, one dword a lane from `base` on; at == NULL stores 0. The first function returns false and ends the
 * dispatch if the load is not modelled. */
bool gcn_access_goes_to_lds(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what);
void gcn_access_to_lds(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                       uint32_t base, const char *at);
void gcn_access_atomic(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                       char *at);
/* Address of a dword (or less) in a work-item's private memory. NULL: beyond its end, a fault. */
char *gcn_private(struct gcn_wave *w, unsigned lane, uint64_t offset);

#endif
