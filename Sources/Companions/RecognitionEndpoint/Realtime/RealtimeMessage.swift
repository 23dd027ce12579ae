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

/// A message to a client.
struct RealtimeEvent: Encodable {
    struct Session: Encodable {
        struct Audio: Encodable {
            var input: Input
        }

        struct Input: Encodable {
            struct Format: Encodable {
                var type = "audio/pcm"
                var rate: Int
            }

            struct Transcription: Encodable {
                var model: String
                var language, prompt: String?
            }

            private enum CodingKeys: String, CodingKey {
                case format, transcription
                case turnDetection = "turn_detection"
            }

            var format: Format
            var transcription: Transcription

            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: CodingKeys.self)
                try object.encode(format, forKey: .format)
                try object.encode(transcription, forKey: .transcription)
                // An utterance ends where the client says so.
                try object.encodeNil(forKey: .turnDetection)
            }
        }

        var id: String
        var object = "realtime.transcription_session"
        var type: String
        var audio: Audio
    }

    struct Failure: Encodable {
        private enum CodingKeys: String, CodingKey {
            case type, code, message, param
            case eventID = "event_id"
        }

        var type = "invalid_request_error"
        var code: String
        var message: String
        var param: String?
        /// The client's name for the message that has failed.
        var eventID: String?
    }

    struct Usage: Encodable {
        var type = "duration"
        var seconds: Double
    }

    private enum CodingKeys: String, CodingKey {
        case type, session, delta, disposition, transcript, words, usage, error, state, snippet
        case eventID = "event_id"
        case protocolVersion = "protocol_version"
        case itemID = "item_id"
        case previousItemID = "previous_item_id"
        case contentIndex = "content_index"
    }

    var type: String
    var eventID: String?
    var session: Session?
    var protocolVersion: Int?
    var itemID, previousItemID: String?
    var contentIndex: Int?
    /// The end that the text has got, which stays.
    var delta, disposition: String?
    var transcript: String?
    var words: [RecogniserLine.Word]?
    var usage: Usage?
    var error: Failure?
    var state: String?
    /// Text behind what is settled, which may change.
    var snippet: String?

    init(_ type: String) { self.type = type }

    static func transcription(_ kind: String, of item: String) -> RealtimeEvent {
        var event = RealtimeEvent("conversation.item.input_audio_transcription.\(kind)")
        (event.itemID, event.contentIndex) = (item, 0)
        return event
    }
}
