// SPDX-License-Identifier: Apache-2.0
// A library that is loaded by the first call of any of its functions, instead of by every start of
// the program. Each file here stands for one library, and lists the functions of it that we call
// with the types of its own header, which the compiler compares; the callers see that header. A
// function that is missing here is an undefined symbol to the linker.
#ifndef UTTER_LATE_H
#define UTTER_LATE_H

// The function `name` of the library with the soname `library`. From any thread; blocks while
// another library is being loaded. Ends the process when there is no such library, as the system's
// loader does when it is asked for at the start.
__attribute__((visibility("hidden"))) void *utter_late_function(
    const char *library, const char *name);

// Defines `name` as a call of the library's function of that name, which is looked up once.
#define LATE(result, name, parameters, arguments)                                               \
    result name parameters {                                                                    \
        static __typeof__(&name) found;                                                         \
        __typeof__(&name) call = __atomic_load_n(&found, __ATOMIC_RELAXED);                     \
        if (!call) {                                                                            \
            call = (__typeof__(&name))utter_late_function(LATE_LIBRARY, #name);                 \
            __atomic_store_n(&found, call, __ATOMIC_RELAXED);                                   \
        }                                                                                       \
        return call arguments;                                                                  \
    }

#endif
