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

/* The weight of one entry, "text/plain;version=0.0.4;q=0.5", in thousandths. */
static unsigned weight(const char *entry, size_t length)
{
    for (size_t i = 0; i + 3 < length; i++) {
        if (entry[i] != ';')
            continue;
        size_t at = i + 1;
        while (at < length && entry[at] == ' ')
            at++;
        if (at + 2 >= length || (entry[at] | 0x20) != 'q' || entry[at + 1] != '=')
            continue;
        unsigned value = 0, scale = 1000;
        for (at += 2; at < length && scale && ((entry[at] >= '0' && entry[at] <= '9') || entry[at] == '.'); at++) {
            if (entry[at] == '.')
                continue;
            value += (unsigned)(entry[at] - '0') * scale;
            scale /= 10;
        }
        return value;
    }
    return 1000;
}

bool rtl_accepts_openmetrics(const char *accept)
{
    static const char openmetrics[] = "application/openmetrics-text", text[] = "text/plain";
    unsigned wants = 0, else_wants = 0;
    for (const char *at = accept ? accept : ""; *at;) {
        at += strspn(at, " \t,");
        size_t length = strcspn(at, ","), type = strcspn(at, ";, \t");
        unsigned w = weight(at, length);
        if (type == sizeof openmetrics - 1 && !strncasecmp(at, openmetrics, type))
            wants = w > wants ? w : wants;
        else if (type == sizeof text - 1 && !strncasecmp(at, text, type))
            else_wants = w > else_wants ? w : else_wants;
        at += length;
    }
    return wants && wants >= else_wants;
}
