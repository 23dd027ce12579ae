// SPDX-License-Identifier: Apache-2.0
// Tells the thread sanitizer about Synchronization.Mutex.
//
// The fast path of the mutex is inlined into our code, where the sanitizer sees its atomics. The
// slow path, taken when two threads want the lock, lies in the standard library, which is not
// instrumented: every contended lock was reported as a race (Swift 6.3.1). This file is linked
// into the test programs of `make tsan` alone and stands before those two functions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

typedef SWIFT void lock_function(uint32_t thread, SELF);
typedef SWIFT void unlock_function(SELF);

SWIFT void utter_lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void utter_unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void utter_lock_slow(uint32_t thread, SELF) {
    ((lock_function *)dlsym(RTLD_NEXT, LOCK))(thread, self);
    __tsan_acquire(self);
}

SWIFT void utter_unlock_slow(SELF) {
    __tsan_release(self);
    ((unlock_function *)dlsym(RTLD_NEXT, UNLOCK))(self);
}
