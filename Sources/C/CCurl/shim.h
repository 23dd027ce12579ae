// SPDX-License-Identifier: Apache-2.0
// libcurl, and a typed function for each use of its variadic ones, which Swift cannot import.
#ifndef UTTER_CCURL_H
#define UTTER_CCURL_H

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <string.h>
#include <locale.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

typedef size_t (*utter_transfer_callback)(char *_Nullable, size_t, size_t, void *_Nullable);
typedef int (*utter_prerequest_callback)(
    void *_Nullable, char *_Nullable, char *_Nullable, int, int);

static inline CURLcode utter_setopt_long(CURL *_Nonnull easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode utter_setopt_offset(
    CURL *_Nonnull easy, CURLoption option, curl_off_t value) {
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

static inline CURLMcode utter_multi_setopt_long(
    CURLM *_Nonnull multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

typedef int (*utter_multi_socket_callback)(
    CURL *_Nullable, curl_socket_t, int, void *_Nullable, void *_Nullable);
typedef int (*utter_multi_timer_callback)(CURLM *_Nullable, long, void *_Nullable);

// Who is told which sockets libcurl waits for, and how long; null for none.
static inline CURLMcode utter_multi_listen(
    CURLM *_Nonnull multi, utter_multi_socket_callback _Nullable socket,
    utter_multi_timer_callback _Nullable timer, void *_Nullable context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return code;
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

static inline const char *_Nullable utter_getinfo_string(CURL *_Nonnull easy, CURLINFO info) {
    const char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

// The socket of a connection that was made by CURLOPT_CONNECT_ONLY, or -1.
static inline curl_socket_t utter_active_socket(CURL *_Nonnull easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}

// What TLS has agreed on, while the connection stands; false when there is none, or when libcurl
// does not use OpenSSL.
static inline bool utter_get_security(
    CURL *_Nonnull easy, const char *_Nullable *_Nonnull version,
    const char *_Nullable *_Nonnull cipher) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session ||
        session->backend != CURLSSLBACKEND_OPENSSL || !session->internals)
        return false;
    *version = SSL_get_version((SSL *)session->internals);
    *cipher = SSL_get_cipher((SSL *)session->internals);
    return true;
}

typedef int (*utter_debug_callback)(
    CURL *_Nullable, curl_infotype, char *_Nullable, size_t, void *_Nullable);

static inline CURLcode utter_setopt_debug(
    CURL *_Nonnull easy, utter_debug_callback _Nonnull value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

static inline CURLSHcode utter_share(CURLSH *_Nonnull share, curl_lock_data kind) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, kind);
}

typedef int (*utter_socket_callback)(void *_Nullable, curl_socket_t, curlsocktype);

static inline CURLcode utter_setopt_socket(
    CURL *_Nonnull easy, utter_socket_callback _Nonnull value) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, value);
}

typedef curl_socket_t (*utter_open_callback)(
    void *_Nullable, curlsocktype, struct curl_sockaddr *_Nullable);

static inline CURLcode utter_setopt_opening(
    CURL *_Nonnull easy, utter_open_callback _Nonnull value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

// The 4 or 16 bytes of an internet address; 0 of another kind.
static inline int utter_address_bytes(
    const struct curl_sockaddr *_Nonnull address, unsigned char *_Nonnull bytes) {
    if (address->family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)&address->addr)->sin_addr, 4);
        return 4;
    }
    if (address->family != AF_INET6) return 0;
    memcpy(bytes, &((const struct sockaddr_in6 *)&address->addr)->sin6_addr, 16);
    return 16;
}

// As libcurl does it without a callback.
static inline curl_socket_t utter_open_socket(const struct curl_sockaddr *_Nonnull address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
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

// A part of a URL, by curl_url_get. The library that gives a host name its ASCII form takes names to
// be in the encoding of the locale, which a program in C's own locale does not say; ours are UTF-8.
// Reading the tables of a locale takes time, so it is done for that form alone.
static inline CURLUcode utter_url_get(
    CURLU *_Nonnull url, CURLUPart part, char *_Nullable *_Nonnull text, unsigned int flags) {
    locale_t utf8 = flags & CURLU_PUNYCODE ? newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)
                                           : (locale_t)0;
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    CURLUcode code = curl_url_get(url, part, text, flags);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return code;
}

// What the easy handle of a finished transfer says; the message's union is not imported.
static inline CURLcode utter_message_result(const CURLMsg *_Nonnull message) {
    return message->data.result;
}

#endif
