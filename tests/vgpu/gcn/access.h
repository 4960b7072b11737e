/*
 * access.h - loads, stores and atomic operations of a lane, however they reached their address: what flat instructions
 * and buffers share.
 */
#ifndef VGPU_GCN_ACCESS_H
#define VGPU_GCN_ACCESS_H

#include "atomic.h"
#include "wave.h"

/* what an instruction moves: a row of a table */
struct gcn_access {
    uint8_t bytes;    /* 1, 2 or a multiple of 4; of memory */
    bool store, sext; /* otherwise a load; sext: extended with its sign */
    uint8_t d16;      /* 1: the low half of the register, 2: the high half, the other stays (stores: is read from) */
    enum gcn_atomic atomic;
};

/* by the name behind flat_ or buffer_ */
bool gcn_access_of(enum gcn_op op, struct gcn_access *what);
/* moves `index`th dword (or what is smaller) between register and memory */
void gcn_access_part(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                     unsigned part, char *at);
/* A load whose result goes into LDS, a dword a lane from `base` on; at: NULL: it is 0. The first function says whether
 * it can, and ends the dispatch if it can't. */
bool gcn_access_goes_to_lds(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what);
void gcn_access_to_lds(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                       uint32_t base, const char *at);
void gcn_access_atomic(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                       char *at);
/* a dword (or less) of a work-item's own memory; NULL: beyond its end, which is a fault */
char *gcn_private(struct gcn_wave *w, unsigned lane, uint64_t offset);

#endif
