/*
 * The ways in which native_stress submits packets, and which kind of queue bears each.
 *
 * An intercept queue of the runtime takes what has a valid header when the doorbell is rung, and looks no more until
 * it is rung again: a doorbell before the header leaves packets lying there, for ever if nobody rings after it. And it
 * must not fill up: before release 6.0 the runtime asserts then, later ones may hang, and their retry is a ring of the
 * doorbell at a time of its own, so that not even a producer alone may write a header before the body. So producers
 * there wait for the GPU every now and then, and rings are large (IN_FLIGHT, RING).
 *
 * A plain queue goes on looking at the slot that it waits for, and bears being full. It doesn't bear a header before
 * the body: the GPU hears of a doorbell late, and then looks at all that is reserved by then, so even a producer alone
 * is seen between the two. A native queue bears it, because only who reserved a slot says that it is complete.
 */
#ifndef NATIVE_STRESS_SETS_H
#define NATIVE_STRESS_SETS_H

#include <stdbool.h>

enum kind { PLAIN = 1, INTERCEPT = 2, NATIVE = 4, ALL = PLAIN | INTERCEPT | NATIVE };
enum way { ADD, ADD_EACH, CAS, STORE, ANY /* of those before STORE, which wants a queue to itself */ };
enum bell {
    AFTER,    /* when the batch is written */
    LATE,     /* some batches later, or when it has to wait */
    EARLY,    /* before the first header is written */
    DISORDER, /* for the second half, then for the first */
    HANDED    /* by another thread */
};

static const struct set {
    const char *name;
    int borne;   /* by which kinds of queue */
    bool shared; /* several producers on a queue */
    enum way way;
    enum bell bell;
    bool torn;   /* the header is written before the body */
    bool full;   /* small rings, slow kernels: reservations reach beyond a full ring */
    bool stalls; /* 30 ms between a slot and its header at times, and then a moment between header and body */
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
/* For intercept queues: a producer waits for the GPU when it has sent so many packets to a queue; packets of a ring. */
enum { IN_FLIGHT = 48, RING = 1024 };
enum { SETS = sizeof sets / sizeof *sets };

#endif
