// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
package import SpeechService
public import TakeStore

/// A take on the disk, as it was at one moment.
public struct KeptTake: Sendable {
    /// The state of a take on the disk.
    public enum State: String, Sendable {
        /// Audio is still being captured.
        case recording
        /// The audio is complete, and not sent yet.
        case sealed
        /// The audio is complete, and on its way.
        case sending
        /// There is a transcript.
        case answered
        /// There is no transcript; the audio waits to be sent again.
        case kept
        /// The take was cancelled; its audio is deleted after a time.
        case cancelled
        /// The description of the take was damaged; recovery builds it anew from the audio.
        case damaged
        /// A later version of this library wrote the take, and can read it.
        case later
        /// The disk does not give the take back.
        case unreadable
    }

    /// Why a take that waits is not sent unasked.
    public enum Obstacle: Sendable, Hashable {
        /// The same request would fail again: something about it must change.
        case held
        /// The service may have the take already, and its plan said not to send it twice.
        case doubtful
        /// The service has failed with the take several times; it is sent again from then on.
        case later(Date)
        /// The take has waited for too long.
        case old
    }

    /// The take's name.
    public let id: TakeID
    /// The take's state.
    public let state: State
    /// Why it has no transcript, or why it cannot be read, in one line; nil when nothing is wrong.
    public let reason: String?
    /// Where its audio is; nil when that was deleted or cannot be looked at.
    public let audioPath: String?
    /// Whether the program that recorded or sent the take has died, so that `Spool.recover` brings the
    /// take to an end.
    public let isAbandoned: Bool
    /// The take's manifest, or why it cannot be read.
    @Boxed package private(set) var manifest: Result<TakeManifest, TakeStoreError>
    /// Why what is encrypted of it cannot be read; nil when it can, or nothing is.
    package let lock: TakeStoreError?
    package let audioByteCount: Int?
    package let waited: Duration

    /// Looks at a take; blocks on the disk, never on another process.
    init(_ id: TakeID, in store: TakeStore, by clock: SpoolAge) {
        self.id = id
        var (reason, isDead): (String?, Bool) = (nil, false)
        var (path, byteCount): (String?, Int?) = (nil, nil)
        var lock: TakeStoreError?
        do throws(TakeStoreError) {
            let take = try store.take(id)
            var manifest = try take.manifest()
            // A file that cannot be looked at is nowhere.
            byteCount = try? take.audioByteCount(fileName: manifest.audio)
            if let byteCount {
                path = "\(take.path)/\(manifest.audio)"
                manifest.compare(withFileOf: byteCount)
            }
            isDead = manifest.state == .kept && byteCount == nil
            reason = manifest.reason
            // While a program lives, it holds the lock; what cannot be locked is not touched.
            if !manifest.isAtRest, (try? take.lock()) == true {
                take.unlock()
                isDead = !manifest.isLocked
                let deed = manifest.state == .recording ? "recording" : "sending"
                let end = "was \(deed) when its program ended"
                reason = end
                // Recovery needs the key; until then the take waits.
                if manifest.isLocked { manifest.abandon(reason: end) }
            }
            if manifest.isLocked {
                lock = take.keyError
                let lack =
                    "encrypted"
                    + (take.key == nil ? ", and no key was given" : " under another key")
                reason = reason.map { "\($0); \(lack)" } ?? lack
            }
            state = State(rawValue: manifest.state.rawValue) ?? .unreadable
            waited = state == .kept ? clock.age(since: id.date) : .zero
            self.manifest = .success(manifest)
        } catch {
            reason = error.description
            manifest = .failure(error)
            waited = .zero
            switch error {
            case .damaged: (state, isDead) = (.damaged, true)
            case .laterVersion: state = .later
            default: (state, isDead) = (.unreadable, !store.hasManifest(id))
            }
        }
        (self.reason, isAbandoned, self.lock) = (reason, isDead, lock)
        (audioPath, audioByteCount) = (path, byteCount)
    }

    /// Whether it waits because the program that recorded or sent it has died.
    package var hasLostItsProgram: Bool { reason?.hasPrefix(TakeManifest.programEnded) == true }

    // `reason` tells why a manifest cannot be read.
    package var known: TakeManifest? { try? manifest.get() }

    /// When it began; nil when neither its name nor what it remembers says so.
    public var began: Date? {
        // Without a date in it the name says it, which the clock of an earlier take may have made.
        known.flatMap { try? Date($0.created, strategy: .iso8601) } ?? id.date
    }

    /// How long it is, once its audio is complete.
    public var length: Duration? { known?.frames.map { .milliseconds(Double($0) / 16) } }

    /// The text of the take; nil without an answer, and empty when nothing was heard.
    public var transcript: String? { known?.transcript }

    /// The name of the service's profile, or the URL without its query; empty when that is not known.
    public var service: String { known?.delivery?.profileName ?? known?.url ?? "" }

    /// How many requests have carried it, over all programs.
    public var attempts: Int { known?.attempts ?? 0 }

    /// Whether it has no answer, and may get one.
    public var isWaiting: Bool { [.recording, .sealed, .sending, .kept].contains(state) }

    /// Whether a service has a part of it, with which it would go on.
    package var isPartlyThere: Bool { known?.progress?.isAtService == true }

    /// Whether the service may have it although no answer came.
    public var mayBeDelivered: Bool { known?.mayBeDelivered ?? false }

    /// Says why a take that waits is not sent unasked.
    ///
    /// - Parameters:
    ///   - limit: a take that has waited for longer is not sent; nil: no limit.
    ///   - isChanged: whether it is sent by another request than the one that failed.
    ///   - unknownOutcome: what happens to a take that the service may have; nil: what its plan said.
    ///   - now: the time.
    /// - Returns: nil when it may be sent now, or does not wait.
    public func obstacle(
        waitingUpTo limit: Duration? = .seconds(30 * 86_400), isChanged: Bool = false,
        unknownOutcome: UnknownOutcome? = nil, at now: Date = Date()
    ) -> Obstacle? {
        guard state == .kept, let manifest = known else { return nil }
        if let limit, waited >= limit { return .old }
        let word = unknownOutcome ?? .init(manifest.delivery)
        if manifest.mayBeDelivered, word != .resend { return .doubtful }
        if manifest.isHeld == true, !isChanged, !manifest.goesAnotherWay { return .held }
        if let next = manifest.nextTry, next > now { return .later(next) }
        return nil
    }

    /// Takes in the order in which they are sent: those that no delivery has failed with go first, so
    /// that a take with which the service always fails holds up no other.
    package static func inSendingOrder(_ takes: [KeptTake]) -> [KeptTake] {
        // Stable: those alike stay in the order of their age.
        takes.enumerated().sorted { one, two in
            let before = one.element.known?.failures ?? 0
            let after = two.element.known?.failures ?? 0
            return before == after ? one.offset < two.offset : before < after
        }.map(\.element)
    }
}

extension TakeManifest {
    /// Whether the next request differs from the one that failed, which was that of a voice.
    fileprivate var goesAnotherWay: Bool {
        let texts = delivery?.profileTexts ?? []
        return texts.later.count < texts.count
    }
}

extension DeliveryPlan {
    /// The plan that a kept take remembers.
    ///
    /// Its secrets are asked of the pipeline's `SecretProvider` when the take is sent: those that were
    /// given for the origin of its URL, and no others.
    ///
    /// - Throws: `TakeStoreError` when the take cannot be read, or does not know where it was meant to
    ///   go.
    public init(of take: KeptTake) throws(TakeStoreError) {
        let manifest = try take.manifest.get()
        if let lock = take.lock { throw lock }
        guard let record = manifest.delivery else {
            throw .unreadable(
                take: take.id.text, reason: "it does not know where it was meant to go")
        }
        do {
            self = try DeliveryPlan(record)
            // It is sent with what it had, whatever its profile wants.
            let parts = service.authentication.parts
            service.authentication.parts = []
            try addSecrets(remembered: record.secrets ?? [])
            service.authentication.parts = parts
        } catch {
            throw .unreadable(take: take.id.text, reason: "\(error)")
        }
    }
}
