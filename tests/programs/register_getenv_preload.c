/*
 * register_getenv_preload.c - a library to preload whose getenv answers HSA_TOOLS_LIB, which the runtime asks for, with
 * register_runtime_preload.so alone, from this library's folder.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

extern char **environ;
__attribute__((visibility("default"))) char *getenv(const char *name);

static char *runtime_tool(void)
{
    static char path[PATH_MAX];
    Dl_info self;
    if (!dladdr((void *)path, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*sregister_runtime_preload.so", slash ? (int)(slash - self.dli_fname + 1) : 0,
             self.dli_fname);
    return path;
}

char *getenv(const char *name)
{
    size_t length = strlen(name);
    if (strcmp(name, "HSA_TOOLS_LIB") == 0)
        return runtime_tool();
    for (char **at = environ; at && *at; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return NULL;
}
