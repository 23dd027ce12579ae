// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

struct Recognition: Sendable, Equatable, Codable {
    /// The words, separated by single spaces; empty when nothing was heard.
    var text = ""
    /// The length of the audio, in seconds.
    var duration = 0.0
    var words: [RecognisedWord] = []
    /// Oddities of the recording; nil: none.
    var notices: [String]?
    /// Where silence stands for lost sound.
    var gaps: [RecognitionGap]?
    var wantedFormat: String?
    /// The language that the client has named, or else the recogniser's only one.
    var language: String?
    /// Whether the client wants events with the text as it becomes known, as OpenAI's API has them.
    var isStreamed: Bool?
}

/// Silence in the place of sound that was lost, in seconds.
struct RecognitionGap: Sendable, Equatable, Codable {
    var start, duration: Double
}

/// The words that the speaker seems to have said so far; later ones may change earlier ones.
struct PartialRecognition: Sendable, Equatable {
    /// The words, separated by single spaces; not empty.
    var text: String
    /// How much of the audio it is about, in seconds from its beginning.
    var time: Double
    /// The words at the beginning that will not change.
    var settled = ""
    var isStreamed = false
}

struct RecognisedWord: Sendable, Equatable, Codable {
    var text: String
    /// In seconds from the beginning of the audio.
    var start, end: Double
    /// How sure the recogniser is, from 0 to 1; nil when it does not say.
    var probability: Double?
}

/// Hands what was heard from the recogniser's thread to the connection's task.
///
/// Holds one partial text, one number of stored bytes and one end: a newer one replaces one that was
/// not read yet, so a client that does not read its answer costs no memory.
final class RecognitionEvents: Sendable {
    enum Event: Sendable, Equatable {
        case partial(PartialRecognition)
        /// The audio is over and this was said; the last event.
        case final(Recognition)
        case failed(BodyFailure)
        /// So many bytes of the upload are durable.
        case stored(Int)
        /// The request's bytes are durable, and more are to come in another one; a last event.
        case appended(Int)
        /// A last event.
        case refused(Refusal)
    }

    private struct State {
        var partial: PartialRecognition?
        var stored: Int?
        var ending: Event?
        var waiter: CheckedContinuation<Event, Never>?
    }

    private let state = Mutex(State())

    /// Hands an event over; never blocks, called on the recogniser's thread.
    func post(_ event: Event) {
        let waiter = state.withLock { state in
            if let waiter = state.waiter.take() { return Optional(waiter) }
            switch event {
            case .partial(let partial): state.partial = partial
            case .stored(let count): state.stored = count
            case .final, .failed, .appended, .refused:
                if state.ending == nil { state.ending = event }
            }
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// Waits for the next event; called by one task, and not again after the last event.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event: Event? = state.withLock { state in
                // A partial text is worth nothing beside the final one.
                if let ending = state.ending { return ending }
                if let stored = state.stored.take() { return .stored(stored) }
                if let partial = state.partial.take() { return .partial(partial) }
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}
