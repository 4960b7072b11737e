/* Encoding of Protocol Buffers. See proto.h. */
#include "serve/proto.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 }; /* wire types */

static size_t write_key(char *out, unsigned field, unsigned wire_type)
{
    *out = (char)(field << 3 | wire_type);
    return 1;
}

size_t rtl_proto_varint(char *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (char)(0x80 | (value & 0x7f));
    out[n++] = (char)value;
    return n;
}

uint64_t rtl_proto_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

size_t rtl_proto_number(char *out, unsigned field, uint64_t value)
{
    size_t n = write_key(out, field, VARINT);
    return n + rtl_proto_varint(out + n, value);
}

size_t rtl_proto_signed(char *out, unsigned field, int64_t value)
{
    return rtl_proto_number(out, field, rtl_proto_zigzag(value));
}

size_t rtl_proto_double(char *out, unsigned field, double value)
{
    uint64_t bits;
    size_t n = write_key(out, field, FIXED64);
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        out[n++] = (char)(bits >> 8 * i & 0xff);
    return n;
}

size_t rtl_proto_wrap(char *at, unsigned field, size_t length)
{
    char head[RTL_PROTO_FIELD];
    size_t n = write_key(head, field, BYTES);
    n += rtl_proto_varint(head + n, length);
    memmove(at + n, at, length);
    memcpy(at, head, n);
    return n + length;
}

size_t rtl_proto_bytes(char *out, unsigned field, const void *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return rtl_proto_wrap(out, field, length);
}
