// SPDX-License-Identifier: Apache-2.0

package import Settings

/// What a profile says of the secret: where in a request it stands, and where it comes from.
package struct AuthenticationPlan: Sendable, Hashable {
    /// The ways.
    package enum Kind: String, Sendable, CaseIterable {
        /// There is no secret.
        case none
        /// `Authorization: Bearer …`.
        case bearer
        /// `Authorization` with another scheme.
        case scheme
        /// A header field of its own.
        case header
        /// A query parameter.
        case query
        /// `Authorization: Basic …`; the secret is `name:password`.
        case basic
    }

    /// The way.
    package var kind = Kind.none
    /// Where the secret stands; nil without one.
    package var place: Credential.Place?
    /// How it is written there.
    package var form = SecretForm.plain
    /// Where it comes from unless told otherwise; nil is unknown.
    package var source: SecretSource?

    /// No secret.
    package init() {}

    /// Reads the table `auth` of a service's description.
    ///
    /// - Throws: `SettingsError` where it is wrong.
    package init(_ reader: inout SettingsReader) throws(SettingsError) {
        kind = try reader.word("kind") ?? .bearer
        let scheme = try reader.string("scheme")
        let header = try reader.string("header")
        let parameter = try reader.string("parameter")
        let prefix: String? =
            switch kind {
            case .none, .query, .header: nil
            case .bearer: "Bearer"
            case .scheme: scheme
            case .basic: "Basic"
            }
        switch kind {
        case .none: break
        case .bearer, .scheme, .basic:
            guard let prefix else { throw SettingsError("'auth' needs a 'scheme'") }
            place = .header("Authorization")
            form = try Self.form(
                prefix.isEmpty ? "{}" : "\(prefix) \(kind == .basic ? "{base64}" : "{}")", reader)
        case .header:
            guard let header else { throw SettingsError("'auth' needs a 'header'") }
            place = .header(header)
            if let scheme { form = try Self.form("\(scheme) {}", reader) }
        case .query:
            guard let parameter else { throw SettingsError("'auth' needs a 'parameter'") }
            place = .query(parameter)
            form = .percentEncoded
        }
        if let name = try reader.string("variable") { source = .variable(name) }
        if let path = try reader.string("file") { source = .file(path) }
        if let text = try reader.string("command") { source = .command(text) }
    }

    private static func form(
        _ text: String, _ reader: SettingsReader
    ) throws(SettingsError) -> SecretForm {
        do throws(ServiceError) {
            return try SecretForm(text)
        } catch {
            throw SettingsError(error.description, at: reader.place("scheme"))
        }
    }
}
