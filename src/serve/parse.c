/* Addresses, and Accept and Host headers. See parse.h. */
#include "serve/parse.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool parse_port(const char *text, unsigned *port)
{
    unsigned value = 0;
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 5 || text[digits])
        return false;
    for (size_t i = 0; i < digits; i++)
        value = 10 * value + (unsigned)(text[i] - '0');
    *port = value;
    return value <= 65535;
}

static bool set_host(struct rtl_address *address, const char *from, size_t length)
{
    if (length >= sizeof address->host)
        return false;
    if (length)
        snprintf(address->host, sizeof address->host, "%.*s", (int)length, from);
    return true;
}

bool rtl_address_parse(const char *text, struct rtl_address *address)
{
    const char *colon = strrchr(text, ':');
    snprintf(address->host, sizeof address->host, "%s", RTL_SERVE_HOST);
    address->port = RTL_SERVE_PORT;
    if (*text == '[') {
        const char *close = strchr(text, ']');
        if (!close || close == text + 1 || (close[1] && close[1] != ':'))
            return false;
        return set_host(address, text + 1, (size_t)(close - text - 1)) &&
               (!close[1] || parse_port(close + 2, &address->port));
    }
    if (!colon)
        return *text && (parse_port(text, &address->port) ||
                         (strspn(text, "0123456789") < strlen(text) && set_host(address, text, strlen(text))));
    if (memchr(text, ':', (size_t)(colon - text)))
        return false; /* IPv6 needs brackets */
    return parse_port(colon + 1, &address->port) && set_host(address, text, (size_t)(colon - text));
}

/* --- the Accept header --- */

/* A part of the header, such as "TYPE; NAME=VALUE", without blanks around it. */
struct header_part {
    const char *text;
    size_t length;
};

static bool part_is(struct header_part part, const char *word)
{
    return part.length == strlen(word) && !strncasecmp(part.text, word, part.length);
}

/* Return the part from *at to the next `end` outside quotes, or to `stop`; *at moves behind it. */
static struct header_part next_part(const char **at, const char *stop, char end)
{
    const char *from = *at, *to;
    bool quoted = false;
    for (to = from; to < stop && (quoted || *to != end); to++) {
        if (*to == '"')
            quoted = !quoted;
        else if (quoted && *to == '\\' && to + 1 < stop)
            to++;
    }
    *at = to < stop ? to + 1 : stop;
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return (struct header_part){from, (size_t)(to - from)};
}

/* Read a weight such as "0.75" in thousandths. */
static unsigned read_weight(struct header_part value)
{
    unsigned sum = 0, scale = 1000;
    for (size_t i = 0; i < value.length && scale; i++) {
        if (value.text[i] == '.')
            continue;
        if (value.text[i] < '0' || value.text[i] > '9')
            break;
        sum += (unsigned)(value.text[i] - '0') * scale;
        scale /= 10;
    }
    return sum;
}

static struct header_part remove_quotes(struct header_part value)
{
    bool quoted = value.length > 1 && *value.text == '"' && value.text[value.length - 1] == '"';
    return quoted ? (struct header_part){value.text + 1, value.length - 2} : value;
}

/* Read an entry: its format (RTL_FORMAT_COUNT: not served) and weight. */
static enum rtl_format read_entry(struct header_part entry, unsigned *wanted)
{
    const char *at = entry.text, *stop = entry.text + entry.length;
    struct header_part type = next_part(&at, stop, ';');
    bool families = false, delimited = false;
    *wanted = 1000;
    while (at < stop) {
        struct header_part parameter = next_part(&at, stop, ';');
        const char *value_at = parameter.text, *end = parameter.text + parameter.length;
        struct header_part name = next_part(&value_at, end, '=');
        struct header_part value = remove_quotes(next_part(&value_at, end, '\0'));
        if (part_is(name, "q"))
            *wanted = read_weight(value);
        families |= part_is(name, "proto") && part_is(value, "io.prometheus.client.MetricFamily");
        delimited |= part_is(name, "encoding") && part_is(value, "delimited");
    }
    if (part_is(type, "application/vnd.google.protobuf") && families && delimited)
        return RTL_FORMAT_PROTOBUF;
    if (part_is(type, "application/openmetrics-text"))
        return RTL_FORMAT_OPENMETRICS;
    return part_is(type, "text/plain") ? RTL_FORMAT_TEXT : RTL_FORMAT_COUNT;
}

enum rtl_format rtl_accepted(const char *accept)
{
    unsigned wanted[RTL_FORMAT_COUNT] = {0};
    const char *at = accept ? accept : "", *stop = at + strlen(at);
    enum rtl_format best = RTL_FORMAT_TEXT;
    while (at < stop) {
        unsigned w;
        enum rtl_format format = read_entry(next_part(&at, stop, ','), &w);
        if (format < RTL_FORMAT_COUNT && w > wanted[format])
            wanted[format] = w;
    }
    for (int f = RTL_FORMAT_TEXT + 1; f < RTL_FORMAT_COUNT; f++)
        if (wanted[f] && wanted[f] >= wanted[best])
            best = (enum rtl_format)f;
    return best;
}

/* --- the Host header --- */

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

bool rtl_hosts_add(struct rtl_hosts *hosts, const char *names, const char **wrong)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ","), named = length;
        if (length && at[length - 1] == '.') /* the root of the DNS */
            named--;
        *wrong = "is no host name (without port)";
        if (!named || named > RTL_HOST_NAME_MAX || strspn(at, NAME_CHARACTERS) < length)
            return false;
        *wrong = "is one host name too many";
        if (hosts->count == RTL_HOSTS_MAX)
            return false;
        memcpy(hosts->name[hosts->count], at, named);
        hosts->name[hosts->count++][named] = '\0';
        at += length;
        if (!*at)
            return true;
    }
}

void rtl_hosts_add_own(struct rtl_hosts *hosts, bool full)
{
    struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM}, *found;
    char name[RTL_HOST_NAME_MAX + 1] = "";
    const char *wrong;
    if (gethostname(name, sizeof name - 1) || !rtl_hosts_add(hosts, name, &wrong) || !full ||
        getaddrinfo(name, NULL, &hints, &found))
        return;
    if (found->ai_canonname)
        rtl_hosts_add(hosts, found->ai_canonname, &wrong);
    freeaddrinfo(found);
}

/* Copy the header without port, final dot and blanks. False if it isn't HOST or HOST:PORT. */
static bool copy_host(const char *header, char host[RTL_HOST_NAME_MAX + 1])
{
    size_t length = *header == '[' ? strcspn(header, "]") : strcspn(header, ": \t");
    const char *port = header + length + (header[length] == ']');
    if (*port == ':')
        port += 1 + strspn(port + 1, "0123456789");
    if ((*header == '[' && header[length] != ']') || port[strspn(port, " \t")])
        return false;
    if (length && header[length - 1] == '.')
        length--;
    if (!length || length > RTL_HOST_NAME_MAX)
        return false;
    memcpy(host, header, length);
    host[length] = '\0';
    return true;
}

static bool is_address(const char *host)
{
    unsigned char address[16];
    return inet_pton(*host == '[' ? AF_INET6 : AF_INET, host + (*host == '['), address) == 1;
}

bool rtl_hosts_permit(const struct rtl_hosts *hosts, const char *header)
{
    static const char below[] = ".localhost"; /* such names are always this machine */
    char host[RTL_HOST_NAME_MAX + 1];
    if (!header)
        return true;
    if (!copy_host(header, host))
        return false;
    size_t length = strlen(host);
    if (is_address(host) || !strcasecmp(host, below + 1) ||
        (length >= sizeof below && !strcasecmp(host + length - strlen(below), below)))
        return true;
    for (uint32_t i = 0; i < hosts->count; i++)
        if (!strcasecmp(host, hosts->name[i]))
            return true;
    return false;
}
