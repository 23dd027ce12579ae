// SPDX-License-Identifier: Apache-2.0
// libcurl brings forty libraries with it. Loading them takes longer than everything else of a
// start, so that libcurl is not linked: it is loaded by `utter_curl_load` on a thread of its own,
// while the microphone is opened and the journal made. Each function that is used has a typed
// wrapper here; Swift could not import the variadic ones anyway.
#ifndef UTTER_CCURL_H
#define UTTER_CCURL_H

// Its type-checking macros stand in the way of taking addresses.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef size_t (*utter_transfer_callback)(char *_Nullable, size_t, size_t, void *_Nullable);
typedef int (*utter_prerequest_callback)(
    void *_Nullable, char *_Nullable, char *_Nullable, int, int);

// Loads what stands for the libraries of protocols that are never spoken here, which halves the time
// that libcurl takes; scripts/placeholders.sh makes it. NULL where it was not installed with the
// program.
static inline void *_Nullable utter_load_placeholders(void) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || length == sizeof path) return NULL;
    path[length] = 0;
    // From PREFIX/bin/utter to PREFIX.
    for (int part = 0; part < 2; part++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = 0;
    }
    const char *rest = "/lib/utter/libutter-placeholders.so";
    if (strlen(path) + strlen(rest) >= sizeof path) return NULL;
    return dlopen(strcat(path, rest), RTLD_LAZY);
}

// The soname has been the same since 2006. Loading it again costs nothing. A libcurl that is newer
// than the placeholders and misses something in them is loaded without them. libcrypto is three
// quarters of the work; alone, it has fewer places to look for each of its 4,000 names.
static inline void *_Nullable utter_curl_load(void) {
    void *libcurl = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
    if (libcurl) return libcurl;
    void *placeholders = utter_load_placeholders();
    dlopen("libcrypto.so.3", RTLD_LAZY);
    libcurl = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_GLOBAL);
    if (libcurl || !placeholders) return libcurl;
    dlclose(placeholders);
    return dlopen("libcurl.so.4", RTLD_LAZY | RTLD_GLOBAL);
}

// A function of libcurl by its name, looked up once for each wrapper, in the global scope (0 is
// RTLD_DEFAULT). Every table of transfers begins with utter_curl_load, so that there is one.
#define UTTER_CURL(function)                                                                    \
    static __typeof__(&(function)) found;                                                       \
    __typeof__(&(function)) call = __atomic_load_n(&found, __ATOMIC_RELAXED);                   \
    if (!call) {                                                                                \
        call = (__typeof__(&(function)))dlsym(0, #function);                                    \
        __atomic_store_n(&found, call, __ATOMIC_RELAXED);                                       \
    }

// A macro with a cast, which Swift cannot import.
static const long utter_auth_basic = (long)CURLAUTH_BASIC;

static inline CURLcode utter_global_init(long flags) {
    UTTER_CURL(curl_global_init)
    return call(flags);
}

static inline void utter_global_cleanup(void) {
    UTTER_CURL(curl_global_cleanup)
    call();
}

static inline CURLM *_Nullable utter_multi_init(void) {
    UTTER_CURL(curl_multi_init)
    return call();
}

static inline void utter_multi_cleanup(CURLM *_Nonnull multi) {
    UTTER_CURL(curl_multi_cleanup)
    call(multi);
}

static inline CURLMcode utter_multi_add_handle(CURLM *_Nonnull multi, CURL *_Nonnull easy) {
    UTTER_CURL(curl_multi_add_handle)
    return call(multi, easy);
}

static inline CURLMcode utter_multi_remove_handle(CURLM *_Nonnull multi, CURL *_Nonnull easy) {
    UTTER_CURL(curl_multi_remove_handle)
    return call(multi, easy);
}

static inline CURLMcode utter_multi_perform(CURLM *_Nonnull multi, int *_Nonnull running) {
    UTTER_CURL(curl_multi_perform)
    return call(multi, running);
}

static inline CURLMcode utter_multi_poll(
    CURLM *_Nonnull multi, struct curl_waitfd *_Nonnull extra, unsigned int count,
    int milliseconds) {
    UTTER_CURL(curl_multi_poll)
    return call(multi, extra, count, milliseconds, NULL);
}

static inline CURLMsg *_Nullable utter_multi_info_read(CURLM *_Nonnull multi, int *_Nonnull left) {
    UTTER_CURL(curl_multi_info_read)
    return call(multi, left);
}

static inline CURL *_Nullable utter_easy_init(void) {
    UTTER_CURL(curl_easy_init)
    return call();
}

static inline void utter_easy_cleanup(CURL *_Nonnull easy) {
    UTTER_CURL(curl_easy_cleanup)
    call(easy);
}

static inline CURLcode utter_easy_pause(CURL *_Nonnull easy, int mask) {
    UTTER_CURL(curl_easy_pause)
    return call(easy, mask);
}

static inline const char *_Nonnull utter_easy_strerror(CURLcode code) {
    UTTER_CURL(curl_easy_strerror)
    return call(code);
}

static inline struct curl_slist *_Nullable utter_slist_append(
    struct curl_slist *_Nullable list, const char *_Nonnull line) {
    UTTER_CURL(curl_slist_append)
    return call(list, line);
}

static inline void utter_slist_free_all(struct curl_slist *_Nullable list) {
    UTTER_CURL(curl_slist_free_all)
    call(list);
}

static inline CURLcode utter_setopt_long(CURL *_Nonnull easy, CURLoption option, long value) {
    UTTER_CURL(curl_easy_setopt)
    return call(easy, option, value);
}

static inline CURLcode utter_setopt_string(
    CURL *_Nonnull easy, CURLoption option, const char *_Nullable value) {
    UTTER_CURL(curl_easy_setopt)
    return call(easy, option, value);
}

static inline CURLcode utter_setopt_pointer(
    CURL *_Nonnull easy, CURLoption option, void *_Nullable value) {
    UTTER_CURL(curl_easy_setopt)
    return call(easy, option, value);
}

static inline CURLcode utter_setopt_list(
    CURL *_Nonnull easy, CURLoption option, struct curl_slist *_Nullable value) {
    UTTER_CURL(curl_easy_setopt)
    return call(easy, option, value);
}

static inline CURLcode utter_setopt_callback(
    CURL *_Nonnull easy, CURLoption option, utter_transfer_callback _Nonnull value) {
    UTTER_CURL(curl_easy_setopt)
    return call(easy, option, value);
}

static inline CURLcode utter_setopt_prerequest(
    CURL *_Nonnull easy, utter_prerequest_callback _Nonnull value) {
    UTTER_CURL(curl_easy_setopt)
    return call(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline long utter_getinfo_long(CURL *_Nonnull easy, CURLINFO info) {
    UTTER_CURL(curl_easy_getinfo)
    long value = 0;
    call(easy, info, &value);
    return value;
}

static inline curl_off_t utter_getinfo_offset(CURL *_Nonnull easy, CURLINFO info) {
    UTTER_CURL(curl_easy_getinfo)
    curl_off_t value = 0;
    call(easy, info, &value);
    return value;
}

typedef int (*utter_socket_callback)(void *_Nullable, curl_socket_t, curlsocktype);

static inline CURLcode utter_setopt_socket(
    CURL *_Nonnull easy, utter_socket_callback _Nonnull value) {
    UTTER_CURL(curl_easy_setopt)
    return call(easy, CURLOPT_SOCKOPTFUNCTION, value);
}

// Keep-alive probes notice a peer that vanished while there is nothing to send. The kernel takes
// few bytes that it has not sent yet (tcp(7), TCP_NOTSENT_LOWAT): what it took is then as good as
// sent, and a slow network asks for more often enough to be told from one that stands still.
static inline void utter_prepare_socket(curl_socket_t socket, int seconds) {
    int on = 1, probes = 2, unsent = 16 << 10;
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

// A peer that vanished is noticed after this many milliseconds of unacknowledged bytes
// (tcp(7), TCP_USER_TIMEOUT). For connected sockets: it would cut a slow connect short too.
static inline void utter_limit_unacknowledged(curl_socket_t socket, unsigned int milliseconds) {
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

// The local port of a socket, or -1.
static inline int utter_local_port(curl_socket_t socket) {
    struct sockaddr_in6 address;
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return -1;
    if (address.sin6_family != AF_INET && address.sin6_family != AF_INET6) return -1;
    // The port stands at the same place in both kinds.
    return ntohs(address.sin6_port);
}

// What the easy handle of a finished transfer says; the message's union is not imported.
static inline CURLcode utter_message_result(const CURLMsg *_Nonnull message) {
    return message->data.result;
}

#endif
