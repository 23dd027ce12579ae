// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
package import Utter

/// The services that a worker knows by itself: all that it takes from a manifest is a name of one of
/// them, and words that it declares.
package struct Shelf: Sendable {
    package struct Service: Sendable {
        package typealias Delivery =
            @Sendable ([String: String]) throws(ManifestMistake) -> DeliveryPlan

        let name: String
        let delivery: Delivery

        /// `delivery` says how a take with these words is delivered.
        package init(_ name: String, delivery: @escaping Delivery) {
            (self.name, self.delivery) = (name, delivery)
        }
    }

    enum Choice {
        case service(String, DeliveryPlan)
        /// The take asks for what its service does not do.
        case refused(reason: String)
        /// Another worker may know the service of this name.
        case unknown(String)
        /// The worker's own account of the service is wrong.
        case unusable(String, reason: String)
    }

    /// The first is that of takes that name none.
    private let services: [Service]
    /// Whether a service of this name recognises nothing: such a take was only stored.
    private let onlyStores: @Sendable (String) -> Bool

    package init(_ services: [Service], onlyStores: @escaping @Sendable (String) -> Bool) {
        (self.services, self.onlyStores) = (services, onlyStores)
    }

    package var names: [String] { services.map(\.name) }

    func choice(for manifest: WorkManifest) -> Choice {
        let named = manifest.profile.flatMap { name in
            onlyStores(name) && !names.contains(name) ? nil : name
        }
        let found = named.map { name in services.first { $0.name == name } } ?? services.first
        guard let service = found else { return .unknown(named ?? "") }
        let plain: DeliveryPlan
        do throws(ManifestMistake) {
            plain = try service.delivery([:])
        } catch {
            return .unusable(service.name, reason: error.reason)
        }
        guard !manifest.words.isEmpty else { return .service(service.name, plain) }
        let known = plain.profile?.profile.words.map(\.name) ?? []
        if let word = manifest.words.keys.sorted().first(where: { !known.contains($0) }) {
            return .refused(reason: "the service '\(service.name)' has no word '\(word)'")
        }
        do throws(ManifestMistake) {
            return .service(service.name, try service.delivery(manifest.words))
        } catch {
            return .refused(reason: error.reason)
        }
    }
}

/// The services that are left alone for a time, since they fail whatever is sent to them.
struct ServicePauses {
    private struct Pause {
        var until: ContinuousClock.Instant
        var backoff: Backoff
        /// The worker's account of it is wrong, as far as can be seen.
        var isWrong: Bool
    }

    private var pauses: [String: Pause] = [:]

    /// - Returns: how long it is left alone.
    mutating func fail(_ name: String, asked: Duration, isWrong: Bool) -> Duration {
        var pause =
            pauses[name]
            ?? Pause(
                until: .now, backoff: Backoff(from: .seconds(1), to: .seconds(60)), isWrong: false)
        // Takes that ran side by side fail together, and count once.
        if pause.until <= .now {
            pause.until = .now + pause.backoff.next(asked: asked)
        } else {
            pause.until = max(pause.until, .now + asked)
        }
        pause.isWrong = isWrong
        pauses[name] = pause
        return ContinuousClock.now.duration(to: pause.until)
    }

    mutating func succeed(_ name: String) { pauses[name] = nil }

    /// How long a service is still left alone; nil when it is not.
    func rest(of name: String) -> Duration? {
        guard let until = pauses[name]?.until, until > .now else { return nil }
        return ContinuousClock.now.duration(to: until)
    }

    var wrong: [String] { pauses.filter(\.value.isWrong).keys.sorted() }
}
