// SPDX-License-Identifier: Apache-2.0
// libcurl's setters and getters are variadic, which Swift cannot import: one typed inline
// wrapper for each type of argument that is used.
#ifndef UTTER_CCURL_H
#define UTTER_CCURL_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

typedef size_t (*utter_transfer_callback)(char *_Nullable, size_t, size_t, void *_Nullable);
typedef int (*utter_prerequest_callback)(
    void *_Nullable, char *_Nullable, char *_Nullable, int, int);

static inline CURLcode utter_setopt_long(CURL *_Nonnull easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode utter_setopt_string(
    CURL *_Nonnull easy, CURLoption option, const char *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode utter_setopt_pointer(
    CURL *_Nonnull easy, CURLoption option, void *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode utter_setopt_list(
    CURL *_Nonnull easy, CURLoption option, struct curl_slist *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode utter_setopt_callback(
    CURL *_Nonnull easy, CURLoption option, utter_transfer_callback _Nonnull value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode utter_setopt_prerequest(
    CURL *_Nonnull easy, utter_prerequest_callback _Nonnull value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline long utter_getinfo_long(CURL *_Nonnull easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

static inline curl_off_t utter_getinfo_offset(CURL *_Nonnull easy, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

// A peer that vanished is noticed after this many milliseconds of unacknowledged bytes
// (tcp(7), TCP_USER_TIMEOUT), and by keep-alive probes while there is nothing to send.
static inline int utter_set_socket_timeout(
    void *_Nullable milliseconds, curl_socket_t socket, curlsocktype purpose) {
    (void)purpose;
    unsigned int timeout = (unsigned int)(uintptr_t)milliseconds;
    int on = 1, seconds = (int)(timeout / 2000), probes = 2;
    if (seconds < 1) seconds = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    return CURL_SOCKOPT_OK;
}

static inline void utter_set_stall_limit(CURL *_Nonnull easy, unsigned int milliseconds) {
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, utter_set_socket_timeout);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, (void *)(uintptr_t)milliseconds);
}

// What the easy handle of a finished transfer says; the message's union is not imported.
static inline CURLcode utter_message_result(const CURLMsg *_Nonnull message) {
    return message->data.result;
}

#endif
