/*
 * native_stress_sets.h - the methods by which native_stress submits packets, and the kinds of queue that support each.
 *
 * An intercept queue consumes packets with a valid header when the doorbell is rung, and does not poll until the next
 * ring. If the doorbell precedes the header, the packets stay there, for ever if no thread rings again. The queue must
 * not fill up: before release 6.0 the runtime asserts then, and later ones may hang. Their retry rings the doorbell at
 * an arbitrary time, so not even a single producer may write a header before the body. So producers on intercept queues
 * wait for the GPU now and then, and rings are large (IN_FLIGHT, RING).
 *
 * A plain queue polls the slot that it waits for, and supports being full. It does not support a header before the
 * body: the GPU may see a doorbell late and then reads all slots reserved by then, so even a single producer can be
 * observed between the two writes. A native queue supports it, because only the thread that reserved a slot marks it
 * complete.
 */
#ifndef NATIVE_STRESS_SETS_H
#define NATIVE_STRESS_SETS_H

#include <stdbool.h>

enum kind { PLAIN = 1, INTERCEPT = 2, NATIVE = 4, ALL = PLAIN | INTERCEPT | NATIVE };
enum way { ADD, ADD_EACH, CAS, STORE, ANY /* any of those before STORE, which needs a queue with one producer */ };
enum bell {
    AFTER,    /* after the batch is written */
    LATE,     /* some batches later, or when the producer has to wait */
    EARLY,    /* before the first header is written */
    DISORDER, /* for the second half, then for the first */
    HANDED    /* by another thread */
};

static const struct set {
    const char *name;
    int borne;   /* kinds of queue that support it */
    bool shared; /* several producers on a queue */
    enum way way;
    enum bell bell;
    bool torn;   /* the header is written before the body */
    bool full;   /* small rings, slow kernels: reservations reach beyond a full ring */
    bool stalls; /* sometimes 30 ms between a slot and its header, then a moment between header and body */
} sets[] = {
    {"batch", ALL, true, ADD, AFTER, false, false, false},
    {"each", ALL, true, ADD_EACH, AFTER, false, false, false},
    {"cas", ALL, true, CAS, AFTER, false, false, false},
    {"any", ALL, true, ANY, AFTER, false, false, false},
    {"alone", ALL, false, STORE, AFTER, false, false, false},
    {"alone-late", ALL, false, STORE, LATE, false, false, false},
    {"late", ALL, true, ANY, LATE, false, false, false},
    {"disorder", ALL, true, ANY, DISORDER, false, false, false},
    {"handed", ALL, true, ANY, HANDED, false, false, false},
    {"torn", NATIVE, false, STORE, AFTER, true, false, false},
    {"full", PLAIN | NATIVE, true, ANY, AFTER, false, true, false},
    {"full-disorder", PLAIN | NATIVE, true, ADD, DISORDER, false, true, false},
    {"early", PLAIN | NATIVE, true, ANY, EARLY, false, false, false},
    {"alone-early", PLAIN | NATIVE, false, STORE, EARLY, false, false, false},
    {"full-early", PLAIN | NATIVE, true, ADD, EARLY, false, true, false},
    {"torn-shared", NATIVE, true, ANY, AFTER, true, false, false},
    {"torn-stalls", NATIVE, true, ADD, AFTER, true, false, true},
    {"full-torn", NATIVE, true, ADD, AFTER, true, true, false},
};
/* For intercept queues: a producer waits for the GPU after so many packets to a queue; smallest ring, in packets. */
enum { IN_FLIGHT = 48, RING = 1024 };
enum { SETS = sizeof sets / sizeof *sets };

#endif
