// SPDX-License-Identifier: Apache-2.0

/// The requests by which a service is given a recording, is asked to recognise it, and is asked for
/// the answer: steps, one after the other.
///
/// In the texts of a step `{name}` stands for a word, or for a value that an earlier step has
/// captured from its answer.
package struct JobPlan: Sendable, Hashable {
    /// The steps; the answer to the last one is the transcript.
    package var steps: [JobStep]
    /// How long the service may take from the first request that waits for it.
    package var limit = Duration.seconds(1_800)
    /// Where URLs in answers may lead, beside the origins that the steps name; secrets do not go
    /// there.
    var origins: [Origin] = []

    /// The names in the texts of the steps that no step captures: words.
    var words: [String] {
        var captured: Set<String> = []
        var words: [String] = []
        for step in steps {
            for name in step.names where !captured.contains(name) && !words.contains(name) {
                words.append(name)
            }
            captured.formUnion(step.captures.map(\.name))
        }
        return words
    }

    /// Whether a URL that an answer names may be followed.
    package func allows(_ origin: Origin, of service: Origin) -> Bool {
        origin == service || origins.contains(origin)
            || steps.contains { $0.ownOrigin == origin }
    }
}

/// One step of a job: a request, and what is done with its answer.
package struct JobStep: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case none
        case recording
        case json(String)
    }

    package struct Capture: Sendable, Hashable {
        var name: String
        var place: ValueCondition.Place
    }

    package var name: String
    /// Where the request goes, also as a reference from the service's URL; nil is that itself.
    package var url: String?
    package var method = StepMethod.post
    var headers: [SettingsText] = []
    package var content = Content.none
    var captures: [Capture] = []
    /// What must hold of the answer before the next step; until then the step is made again.
    package var until: ValueCondition?
    package var pendingStatuses: [Int] = []
    package var failed: ValueCondition?
    var message: [JSONPath] = []
    /// What says that this answer is the transcript already.
    package var answers: ValueCondition?
    package var pause = Duration.zero
    /// The longest such wait; each is half as long again as the one before.
    var longestPause = Duration.zero

    /// Whether it is made again until something holds.
    package var isPoll: Bool { until != nil || !pendingStatuses.isEmpty }

    var names: [String] {
        var texts = [url ?? ""] + headers.map(\.value)
        if case .json(let text) = content { texts.append(text) }
        return texts.flatMap { WordTemplate($0).words }
    }

    /// The origin of its URL, when no answer has a part in that.
    var ownOrigin: Origin? {
        guard let url, !url.hasPrefix("{") else { return nil }
        let beginning = url.prefix { $0 != "?" }
        guard let scheme = beginning.firstRange(of: "://") else { return nil }
        let host = beginning[scheme.upperBound...].prefix { $0 != "/" }
        guard !host.contains("{") else { return nil }
        // One that is none has been refused when it was read.
        return try? Origin("\(beginning[..<scheme.upperBound])\(host)")
    }

    /// How long to wait before the step is made for the time of this number, from 0.
    package func pause(before number: Int) -> Duration {
        guard isPoll else { return pause }
        let grown = pause * (0..<min(number, 20)).reduce(1.0) { factor, _ in factor * 1.5 }
        return min(grown, max(pause, longestPause))
    }
}
