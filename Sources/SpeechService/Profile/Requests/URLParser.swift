// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// libcurl's parser (libcurl-url(3)), the one that also reads what is requested.
///
/// A parser of our own could see another host in a URL than the transfer does.
@safe struct URLParser: ~Copyable {
    enum Failure: Error, Equatable {
        case userInfo
        case invalid(String)
    }

    /// Any scheme is read so that an error can name it; spaces and letters beyond ASCII are
    /// percent-encoded.
    private static let flags = UInt32(
        CURLU_NON_SUPPORT_SCHEME | CURLU_DISALLOW_USER | CURLU_URLENCODE | CURLU_ALLOW_SPACE)

    private let handle: OpaquePointer

    init() throws(Failure) {
        guard let handle = unsafe curl_url() else { throw .invalid("memory ran out") }
        unsafe self.handle = handle
    }

    deinit { unsafe curl_url_cleanup(handle) }

    /// A URL, or a reference from the one that was read before (RFC 3986 §5).
    func read(_ text: String) throws(Failure) {
        // Some versions of libcurl encode them, or have no code of their own for these faults.
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .invalid("it holds a control character")
        }
        guard !text.isEmpty else { throw .invalid(Self.reason(CURLUE_BAD_SCHEME)) }
        try check(unsafe curl_url_set(handle, CURLUPART_URL, text, Self.flags))
    }

    /// In lower case.
    func scheme() throws(Failure) -> String { try part(CURLUPART_SCHEME) ?? "" }

    /// In lower case and ASCII (`xn--` form); an address in its canonical form.
    func host() throws(Failure) -> String {
        // Names of interfaces mean something on this machine alone.
        guard try part(CURLUPART_ZONEID) == nil else {
            throw .invalid("an IPv6 address may have no zone here")
        }
        guard let host = try part(CURLUPART_HOST), !host.isEmpty else {
            throw .invalid("it has no host")
        }
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host.lowercased() }
        // libcurl's code for one that cannot be written in ASCII differs from version to version.
        guard let name = try? part(CURLUPART_HOST, CURLU_PUNYCODE) else {
            throw .invalid("the host is not a name that can be looked up")
        }
        return name.lowercased()
    }

    /// `usual` is that of the scheme; nil: libcurl knows it.
    func port(orElse usual: Int? = nil) throws(Failure) -> Int {
        let text =
            try part(CURLUPART_PORT, usual == nil ? CURLU_DEFAULT_PORT : 0)
            ?? usual.map { "\($0)" }
        guard let port = text.flatMap({ Int($0) }), (1...65535).contains(port) else {
            throw .invalid(Self.reason(CURLUE_BAD_PORT_NUMBER))
        }
        return port
    }

    /// The path, without dot segments, and the query.
    func target() throws(Failure) -> String {
        let path = try part(CURLUPART_PATH) ?? "/"
        guard let query = try part(CURLUPART_QUERY), !query.isEmpty else { return path }
        return "\(path)?\(query)"
    }

    private func part(_ part: CURLUPart, _ flags: Int32 = 0) throws(Failure) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = unsafe utter_url_get(handle, part, &text, UInt32(flags))
        defer { unsafe curl_free(text) }
        switch code {
        case CURLUE_NO_HOST, CURLUE_NO_PORT, CURLUE_NO_QUERY, CURLUE_NO_ZONEID: return nil
        default: try check(code)
        }
        return unsafe text.map { unsafe String(cString: $0) }
    }

    private func check(_ code: CURLUcode) throws(Failure) {
        switch code {
        case CURLUE_OK: return
        case CURLUE_USER_NOT_ALLOWED: throw .userInfo
        default: throw .invalid(Self.reason(code))
        }
    }

    private static func reason(_ code: CURLUcode) -> String {
        switch code {
        case CURLUE_BAD_SCHEME, CURLUE_BAD_SLASHES, CURLUE_UNSUPPORTED_SCHEME:
            "it must begin with http:// or https://"
        case CURLUE_NO_HOST: "it has no host"
        case CURLUE_BAD_HOSTNAME: "the host may hold letters, digits, '-' and '.' only"
        case CURLUE_BAD_IPV6: "the address in brackets is not IPv6"
        case CURLUE_BAD_PORT_NUMBER: "the port must be a number from 1 to 65535"
        case CURLUE_BAD_PATH, CURLUE_BAD_QUERY, CURLUE_MALFORMED_INPUT:
            "it holds a control character"
        default: unsafe String(cString: curl_url_strerror(code)).lowercased()
        }
    }
}
