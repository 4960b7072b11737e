/* Addresses and Accept headers. See parse.h. */
#include "serve/parse.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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

static bool copy_host(struct rtl_address *address, const char *from, size_t length)
{
    if (length >= sizeof address->host)
        return false;
    if (length) {
        memcpy(address->host, from, length);
        address->host[length] = '\0';
    }
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
        return copy_host(address, text + 1, (size_t)(close - text - 1)) &&
               (!close[1] || parse_port(close + 2, &address->port));
    }
    if (!colon)
        return *text && (parse_port(text, &address->port) ||
                         (strspn(text, "0123456789") < strlen(text) && copy_host(address, text, strlen(text))));
    if (memchr(text, ':', (size_t)(colon - text)))
        return false; /* of IPv6, which port it is only brackets tell */
    return parse_port(colon + 1, &address->port) && copy_host(address, text, (size_t)(colon - text));
}

/* An entry of the header, "TYPE; NAME=VALUE; ...": what is between two of its ends, without blanks around it. */
struct piece {
    const char *text;
    size_t length;
};

static bool is(struct piece piece, const char *word)
{
    return piece.length == strlen(word) && !strncasecmp(piece.text, word, piece.length);
}

/* Up to the next one of `ends`, from `*at` on, which goes behind it or to `stop`. What is in quotes ends nothing. */
static struct piece next_piece(const char **at, const char *stop, char end)
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
    return (struct piece){from, (size_t)(to - from)};
}

/* "0.75" in thousandths. */
static unsigned weight(struct piece value)
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

static struct piece unquoted(struct piece value)
{
    bool quoted = value.length > 1 && *value.text == '"' && value.text[value.length - 1] == '"';
    return quoted ? (struct piece){value.text + 1, value.length - 2} : value;
}

/* Which format an entry is about and how much it is wanted; RTL_FORMAT_COUNT: none that is served. */
static enum rtl_format read_entry(struct piece entry, unsigned *wanted)
{
    const char *at = entry.text, *stop = entry.text + entry.length;
    struct piece type = next_piece(&at, stop, ';');
    bool families = false, delimited = false;
    *wanted = 1000;
    while (at < stop) {
        struct piece parameter = next_piece(&at, stop, ';');
        const char *value_at = parameter.text, *end = parameter.text + parameter.length;
        struct piece name = next_piece(&value_at, end, '=');
        struct piece value = unquoted(next_piece(&value_at, end, '\0'));
        if (is(name, "q"))
            *wanted = weight(value);
        families |= is(name, "proto") && is(value, "io.prometheus.client.MetricFamily");
        delimited |= is(name, "encoding") && is(value, "delimited");
    }
    if (is(type, "application/vnd.google.protobuf") && families && delimited)
        return RTL_FORMAT_PROTOBUF;
    if (is(type, "application/openmetrics-text"))
        return RTL_FORMAT_OPENMETRICS;
    return is(type, "text/plain") ? RTL_FORMAT_TEXT : RTL_FORMAT_COUNT;
}

enum rtl_format rtl_accepted(const char *accept)
{
    unsigned wanted[RTL_FORMAT_COUNT] = {0};
    const char *at = accept ? accept : "", *stop = at + strlen(at);
    enum rtl_format best = RTL_FORMAT_TEXT;
    while (at < stop) {
        unsigned w;
        enum rtl_format format = read_entry(next_piece(&at, stop, ','), &w);
        if (format < RTL_FORMAT_COUNT && w > wanted[format])
            wanted[format] = w;
    }
    for (int f = RTL_FORMAT_TEXT + 1; f < RTL_FORMAT_COUNT; f++)
        if (wanted[f] && wanted[f] >= wanted[best])
            best = (enum rtl_format)f;
    return best;
}
