/* Parsing the address to listen on and a client's Accept and Host headers. Untrusted input. */
#ifndef RTL_SERVE_PARSE_H
#define RTL_SERVE_PARSE_H

#include <stdbool.h>
#include <stdint.h>

enum { RTL_HOST_MAX = 64 };
#define RTL_SERVE_HOST "127.0.0.1"
#define RTL_SERVE_PORT 9833

struct rtl_address {
    char host[RTL_HOST_MAX];
    unsigned port; /* 0: any that is free */
};

/* Parse "ADDR:PORT", "[ADDR]:PORT", ":PORT", "PORT", "ADDR" or "[ADDR]", with defaults. False for other texts. */
bool rtl_address_parse(const char *text, struct rtl_address *address);

/* Formats of a page: Prometheus's older text format, OpenMetrics, and Protocol Buffers, the only format with native
 * histograms. */
enum rtl_format { RTL_FORMAT_TEXT, RTL_FORMAT_OPENMETRICS, RTL_FORMAT_PROTOBUF, RTL_FORMAT_COUNT };

/* Return the format that an Accept header (NULL: none) prefers; of equal preferences the later format. */
enum rtl_format rtl_accepted(const char *accept);

/*
 * The names by which clients may address the server. A web page can let its own name resolve to this server's address
 * (DNS rebinding). The browser then sends the page's requests here, with that name in the Host header. An address in
 * the header is always permitted, because a page from an address can't be rebound.
 */
enum { RTL_HOSTS_MAX = 16, RTL_HOST_NAME_MAX = 253 };

struct rtl_hosts {
    uint32_t count;
    char name[RTL_HOSTS_MAX][RTL_HOST_NAME_MAX + 1];
};

/* Add names separated by commas, without ports. False, with the reason in *wrong, if one is no host name, or if there
 * are too many. */
bool rtl_hosts_add(struct rtl_hosts *hosts, const char *names, const char **wrong);
/* Add this machine's name. With `full`, also add its full name from the resolver, which may ask a DNS server. */
void rtl_hosts_add_own(struct rtl_hosts *hosts, bool full);

/* Return whether a Host header (NULL: none, as in HTTP/1.0) is an address, localhost, or one of the names, with any
 * port. Untrusted text. */
bool rtl_hosts_permit(const struct rtl_hosts *hosts, const char *header);

#endif
