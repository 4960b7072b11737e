/*
 * The few parts of the encoding of Protocol Buffers that a page of metrics consists of, into memory of the caller's,
 * who sees to it that there is room. Pure. (protobuf-c would need a tree of structures for a whole page, a generator to
 * build with and a library to run with; this is what it would do with them.)
 */
#ifndef RTL_SERVE_PROTO_H
#define RTL_SERVE_PROTO_H

#include <stddef.h>
#include <stdint.h>

enum {
    RTL_PROTO_VARINT = 10,                  /* bytes of a number, at most */
    RTL_PROTO_FIELD = 2 * RTL_PROTO_VARINT, /* of a field that is a number, or of the head of one that is bytes */
};

/* Each returns the bytes that it has written; fields' numbers are below 16. */
size_t rtl_proto_varint(char *out, uint64_t value);
size_t rtl_proto_number(char *out, unsigned field, uint64_t value);
size_t rtl_proto_signed(char *out, unsigned field, int64_t value); /* sint32, sint64 */
size_t rtl_proto_double(char *out, unsigned field, double value);
size_t rtl_proto_bytes(char *out, unsigned field, const void *bytes, size_t length);

uint64_t rtl_proto_zigzag(int64_t value);

/* Makes the `length` bytes at `at` the field's content: they move behind its head. The bytes of it all. */
size_t rtl_proto_wrap(char *at, unsigned field, size_t length);

#endif
