// SPDX-License-Identifier: Apache-2.0
#include "late.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

void *utter_late_function(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    void *function = handle ? dlsym(handle, name) : 0;
    if (function) return function;
    const char *reason = dlerror();
    fprintf(stderr, "utter: error: %s\n", reason ? reason : library);
    // What the shell knows from the system's loader.
    _exit(127);
}
