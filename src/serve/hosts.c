/* Names of the server. See hosts.h. */
#include "serve/hosts.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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
