// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import LinuxPlatform

final class RecognitionJob: Sendable {
    let body: BodyQueue

    let events = RecognitionEvents()

    private let mediaType: AudioMediaType
    private let key: EncryptionKey?

    /// The key is that of encrypted bodies.
    init(_ mediaType: AudioMediaType, key: EncryptionKey? = nil) throws(SystemError) {
        (self.mediaType, self.key) = (mediaType, key)
        body = try BodyQueue()
    }

    /// Does the work; blocks until the body's end, called on the recogniser's thread.
    ///
    /// - Returns: the last event, which the thread posts when it is free again.
    func run(_ recogniser: inout SpeechRecogniser) -> RecognitionEvents.Event {
        defer { body.close() }
        do {
            return .final(try recognise(with: &recogniser))
        } catch {
            return .failed(error)
        }
    }

    private func recognise(
        with recogniser: inout SpeechRecogniser
    ) throws(BodyFailure) -> Recognition {
        var decoder = try BodyDecoder(mediaType, key: key)
        var samples: [Int16] = []
        do {
            try recogniser.begin()
        } catch {
            throw .recogniserFailed
        }
        while true {
            samples.removeAll(keepingCapacity: true)
            switch body.take() {
            case .bytes(let bytes):
                try decoder.decode(bytes.span, into: &samples)
                try process(samples, with: &recogniser)
            case .end:
                try decoder.finish(into: &samples)
                try process(samples, with: &recogniser)
                do {
                    var recognition = try recogniser.finish()
                    recognition.wantedFormat = decoder.wantedFormat
                    return recognition
                } catch {
                    throw .recogniserFailed
                }
            case .failed(let failure):
                throw failure
            }
        }
    }

    private func process(
        _ samples: [Int16], with recogniser: inout SpeechRecogniser
    ) throws(BodyFailure) {
        do {
            try recogniser.process(samples.span) { events.post(.partial($0)) }
        } catch {
            throw .recogniserFailed
        }
    }
}
