/* Reads a process's title and owner from /proc. See proc_title.h. */
#include "watch/proc_title.h"
#include "record/process_info.h"
#include "shm/late_file.h"
#include "shm/process.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

void rtl_proc_title(pid_t pid, const char *fallback, char *out, size_t size)
{
    char bytes[512];
    ssize_t n = rtl_late_file(pid, "cmdline", bytes, sizeof bytes);
    while (n > 0 && !bytes[n - 1])
        n--;
    if (n <= 0) {
        snprintf(out, size, "%s", fallback);
        return;
    }
    const char *start = bytes;
    for (ssize_t i = 0; i < n && bytes[i]; i++) /* "/usr/bin/python3 serve.py" -> "python3 serve.py" */
        if (bytes[i] == '/' && i + 1 < n && bytes[i + 1])
            start = bytes + i + 1;
    for (ssize_t i = 0; i < n; i++)
        if (!bytes[i])
            bytes[i] = ' ';
    rtl_text_escape(out, size, start, (size_t)(bytes + n - start));
}

void rtl_proc_user(pid_t pid, char *out, size_t size)
{
    char user[64];
    rtl_process_user(pid, user, sizeof user);
    rtl_text_escape(out, size, *user ? user : "?", *user ? strlen(user) : 1);
}
