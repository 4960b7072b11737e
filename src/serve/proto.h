/*
 * The parts of the Protocol Buffers encoding that a page of metrics needs. The caller provides enough memory. Pure.
 * (protobuf-c would need a tree of structs for a whole page, a generator at build time and a library at run time.)
 */
#ifndef RTL_SERVE_PROTO_H
#define RTL_SERVE_PROTO_H

#include <stddef.h>
#include <stdint.h>

enum {
    RTL_PROTO_VARINT = 10,                  /* maximum bytes of a number */
    RTL_PROTO_FIELD = 2 * RTL_PROTO_VARINT, /* of a field with a number, or of the head of a field with bytes */
};

/* Each returns the bytes written; field numbers are below 16. */
size_t rtl_proto_varint(char *out, uint64_t value);
size_t rtl_proto_number(char *out, unsigned field, uint64_t value);
size_t rtl_proto_signed(char *out, unsigned field, int64_t value); /* sint32, sint64 */
size_t rtl_proto_double(char *out, unsigned field, double value);
size_t rtl_proto_bytes(char *out, unsigned field, const void *bytes, size_t length);

uint64_t rtl_proto_zigzag(int64_t value);

/* Insert a field's head before its content, the `length` bytes at `at`. Returns the bytes of head and content. */
size_t rtl_proto_wrap(char *at, unsigned field, size_t length);

#endif
