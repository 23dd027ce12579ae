// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

// The messages of OpenAI's realtime transcription that the endpoint knows, and the additions of the
// recognisers of a desktop; docs/recogniser.md lists them.

/// A message of a client; members that are not known do not matter.
struct RealtimeCommand: Decodable {
    struct Session: Decodable {
        var audio: Audio?
    }

    struct Audio: Decodable {
        var input: Input?
    }

    struct Input: Decodable {
        struct Format: Decodable {
            var type: String?
            /// In Hz.
            var rate: Int?
        }

        struct Transcription: Decodable {
            var model, language, prompt: String?
        }

        /// Any value but null.
        struct TurnDetection: Decodable {
            init(from decoder: any Decoder) {}
        }

        private enum CodingKeys: String, CodingKey {
            case format, transcription
            case turnDetection = "turn_detection"
        }

        var format: Format?
        var transcription: Transcription?
        var turnDetection: TurnDetection?
    }

    private enum CodingKeys: String, CodingKey {
        case type, audio, session
        case eventID = "event_id"
    }

    var type: String
    var eventID: String?
    /// Samples in base64.
    var audio: String?
    var session: Session?

    init(parsing text: String) throws {
        self = try JSONDecoder().decode(RealtimeCommand.self, from: Data(text.utf8))
    }

    /// The samples; nil when they are not in base64.
    var samples: [UInt8]? { audio.flatMap { Data(base64Encoded: $0) }.map(Array.init) }
}

/// A value of JSON in a message to a client; members that are nil are left out.
enum JSONNode: Encodable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByDictionaryLiteral
{
    case null
    case text(String)
    case number(Double)
    case words([RecogniserLine.Word])
    case object([String: JSONNode])

    init(stringLiteral text: String) { self = .text(text) }

    init(integerLiteral number: Int) { self = .number(Double(number)) }

    init(dictionaryLiteral members: (String, JSONNode?)...) {
        self = .object(
            Dictionary(
                uniqueKeysWithValues: members.compactMap { name, value in
                    value.map { (name, $0) }
                }))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var value = encoder.singleValueContainer()
            try value.encodeNil()
        case .text(let text): try text.encode(to: encoder)
        case .number(let number): try number.encode(to: encoder)
        case .words(let words): try words.encode(to: encoder)
        case .object(let members): try members.encode(to: encoder)
        }
    }
}
