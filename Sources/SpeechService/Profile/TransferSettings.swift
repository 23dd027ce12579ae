// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// What a profile says of how a request travels; nil is the usual.
package struct TransferSettings: Sendable, Hashable {
    /// How the service learns where the body ends.
    package var framing: BodyFraming?
    /// Whether the service decides itself when the speaker has finished.
    package var detectsEnd = false
    /// Whether the service is asked for its consent before the body is sent (RFC 9110 §10.1.1).
    package var expectsContinue = false
    /// The name of the field that carries the take's id.
    package var idHeader: String?
    /// How long the answer may take once all is sent.
    package var answer: Duration?
    /// How long sending may stand still.
    package var stall: Duration?
    /// Other origins to which a redirect may lead, with the secret and the audio.
    package var redirectOrigins: [Origin] = []

    /// The usual.
    init() {}

    /// Reads the table `transfer`.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        framing = try reader.word("framing")
        detectsEnd = try reader.flag("endpointing") ?? false
        expectsContinue = try reader.flag("expect-continue") ?? false
        idHeader = try reader.string(
            "id-header",
            as: { text throws(ServiceError) in try HeaderField(name: text, value: "id").name },
            reason: \.description)
        answer = try reader.seconds("answer-seconds", upTo: 86_400)
        stall = try reader.seconds("stall-seconds", upTo: 86_400)
        let place = reader.place("redirect-to")
        for text in try reader.strings("redirect-to") ?? [] {
            do throws(ServiceError) {
                redirectOrigins.append(try Origin(text))
            } catch {
                throw SettingsError(
                    "'\(reader.path("redirect-to"))': \(error.description)", at: place)
            }
        }
    }
}
