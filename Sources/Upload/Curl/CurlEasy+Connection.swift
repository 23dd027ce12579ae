// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import SpeechService

extension CurlEasy {
    mutating func connect(by connection: ConnectionSettings) throws(CurlRefusal) {
        try set(CURLOPT_HTTP_VERSION, Int(connection.http.option))
        try set(CURLOPT_SSLVERSION, Int(connection.minimumTLS.option))
        if let file = connection.certificateFile {
            try set(CURLOPT_CAINFO, file)
            // The system's folder would be trusted beside it.
            try set(CURLOPT_CAPATH, nil)
        }
        if let certificate = connection.clientCertificate {
            try set(CURLOPT_SSLCERT, certificate)
            try set(CURLOPT_SSLKEY, connection.clientKey ?? certificate)
            // For a key with a passphrase OpenSSL would ask the terminal, on this thread.
            try set(CURLOPT_KEYPASSWD, "")
        }
        if !connection.pinnedKeys.isEmpty {
            let keys = connection.pinnedKeys.map(\.description).joined(separator: ";")
            try set(CURLOPT_PINNEDPUBLICKEY, keys)
        }
        if let addresses = connection.addresses {
            try set(CURLOPT_IPRESOLVE, Int(addresses.option))
        }
        if !connection.resolutions.isEmpty {
            try setResolutions(connection.resolutions.map(\.description))
        }
        try goThrough(connection)
    }

    private func goThrough(_ connection: ConnectionSettings) throws(CurlRefusal) {
        // A proxy's own answer to CONNECT is not the service's.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        switch connection.proxy {
        case nil: break
        case .some(.none): try set(CURLOPT_PROXY, "")
        case .url(let url): try set(CURLOPT_PROXY, url)
        }
        if let exceptions = connection.proxyExceptions {
            try set(CURLOPT_NOPROXY, exceptions.joined(separator: ","))
        }
        if let login = connection.proxyLogin?.percentEncodedLogin {
            try set(CURLOPT_PROXYUSERPWD, login)
        }
    }
}

extension HTTPVersion {
    /// libcurl's value for `CURLOPT_HTTP_VERSION`.
    ///
    /// HTTP/2 is agreed on in the TLS handshake alone: without TLS, libcurl 7.88 loses the second
    /// request of a connection.
    fileprivate var option: UInt32 {
        switch self {
        case .one: UInt32(CURL_HTTP_VERSION_1_1)
        case .two: UInt32(CURL_HTTP_VERSION_2TLS)
        }
    }
}

extension TLSVersion {
    fileprivate var option: UInt32 {
        switch self {
        case .two: UInt32(CURL_SSLVERSION_TLSv1_2)
        case .three: UInt32(CURL_SSLVERSION_TLSv1_3)
        }
    }
}

extension AddressKind {
    fileprivate var option: Int32 {
        switch self {
        case .four: CURL_IPRESOLVE_V4
        case .six: CURL_IPRESOLVE_V6
        }
    }
}
