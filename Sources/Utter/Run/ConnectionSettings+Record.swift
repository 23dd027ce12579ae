// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore

extension DeliveryRecord.Connection {
    /// What a take remembers beside HTTP's version and the certificates to trust; nil when all is
    /// as usual.
    init?(_ settings: ConnectionSettings, origin: String) {
        self.init()
        proxy = settings.proxy?.description
        proxyExceptions = settings.proxyExceptions
        proxyLogin = settings.proxyLogin.map { DeliveryRecord.Secret($0, origin: origin) }
        clientCertificate = settings.clientCertificate
        clientKey = settings.clientKey
        minimumTLS = settings.minimumTLS == .two ? nil : settings.minimumTLS.rawValue
        pinnedKeys =
            settings.pinnedKeys.isEmpty ? nil : settings.pinnedKeys.map(\.description)
        addresses = settings.addresses?.rawValue
        resolutions =
            settings.resolutions.isEmpty ? nil : settings.resolutions.map(\.description)
        if self == DeliveryRecord.Connection() { return nil }
    }
}

extension ConnectionSettings {
    /// The proxy's login is asked for.
    ///
    /// - Throws: `ServiceError` for a record that this program has not written.
    init(_ record: DeliveryRecord) throws(ServiceError) {
        self.init()
        http = record.httpVersion.flatMap { HTTPVersion(rawValue: $0) } ?? .one
        certificateFile = record.certificateFile
        guard let connection = record.connection else { return }
        if let text = connection.proxy { proxy = try Proxy(text) }
        proxyExceptions = connection.proxyExceptions
        proxyLogin = connection.proxyLogin.map { secret in
            Credential(askedOf: secret.source, place: .proxy, form: .plain)
        }
        clientCertificate = connection.clientCertificate
        clientKey = connection.clientKey
        minimumTLS = connection.minimumTLS.flatMap { TLSVersion(rawValue: $0) } ?? .two
        pinnedKeys = try (connection.pinnedKeys ?? []).map { text throws(ServiceError) in
            try PinnedKey(text)
        }
        addresses = connection.addresses.flatMap { AddressKind(rawValue: $0) }
        resolutions = try (connection.resolutions ?? []).map { text throws(ServiceError) in
            try HostResolution(text)
        }
    }
}
