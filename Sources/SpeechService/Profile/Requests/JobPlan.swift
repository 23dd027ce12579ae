// SPDX-License-Identifier: Apache-2.0

/// The requests by which a service is given a recording, is asked to recognise it, and is asked for
/// the answer: steps, one after the other.
///
/// In the texts of a step `{name}` stands for a word, or for a value that an earlier step has
/// captured from its answer.
package struct JobPlan: Sendable, Hashable {
    /// The last step's answer is the transcript.
    package internal(set) var steps: [JobStep]
    /// From the first polling request on.
    package internal(set) var limit = Duration.seconds(1_800)
    /// Where URLs in answers may lead, without secrets, beside the steps' origins.
    var origins: [Origin] = []

    /// The words that no step captures.
    var words: [String] {
        steps.indices.flatMap { index -> [String] in
            let captured = steps[..<index].flatMap { $0.captures.map(\.name) }
            return steps[index].names.filter { !captured.contains($0) }
        }
    }

    /// For a URL in an answer.
    package func allows(_ origin: Origin, of service: Origin) -> Bool {
        origin == service || origins.contains(origin)
            || steps.contains { $0.ownOrigin == origin }
    }
}

package struct JobStep: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case none
        case recording
        case json(String)
        /// A text of a type that the step's fields name.
        case text(String)
    }

    package struct Capture: Sendable, Hashable {
        var name: String
        var place: ValueCondition.Place
        /// Without a value the step has succeeded nevertheless.
        var isOptional = false
    }

    package internal(set) var name: String
    /// May be a reference from the service's URL; nil: that itself.
    package internal(set) var url: String?
    package internal(set) var method = StepMethod.post
    var headers: [HeaderTemplate] = []
    package internal(set) var content = Content.none
    var captures: [Capture] = []
    var until: ValueCondition?
    package internal(set) var pendingStatuses: [Int] = []
    var failed: ValueCondition?
    var message: [JSONPath] = []
    /// True when this answer is already the transcript.
    var answers: ValueCondition?
    var pause = Duration.zero
    /// Each pause is 1.5 times the one before, up to this.
    var longestPause = Duration.zero

    package var isPoll: Bool { until != nil || !pendingStatuses.isEmpty }

    var names: [String] {
        var texts = [url ?? ""] + headers.map(\.value)
        switch content {
        case .none, .recording: break
        case .json(let text), .text(let text): texts.append(text)
        }
        return texts.flatMap { WordTemplate($0).words }
    }

    /// The text that stands for `ownOrigin`; nil where words or the service's URL stand there.
    var originText: String? {
        guard let url, !url.hasPrefix("{"), let scheme = url.firstRange(of: "://")
        else { return nil }
        let host = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        return host.contains("{") ? nil : String(url[..<host.endIndex])
    }

    var ownOrigin: Origin? {
        // A text that is not an origin is refused when the profile is read.
        originText.flatMap { try? Origin($0) }
    }

    /// Attempts count from 0.
    package func pause(before number: Int) -> Duration {
        guard isPoll else { return pause }
        let grown = pause * (0..<min(number, 20)).reduce(1.0) { factor, _ in factor * 1.5 }
        return min(grown, max(pause, longestPause))
    }
}

extension JobStep {
    /// Where the request goes, without the service's secrets.
    ///
    /// A value that is the beginning of the URL is one itself; every other is a part of a path or a
    /// query, and percent-encoded.
    package func target(
        from service: ServiceURL, by values: [String: String]
    ) throws(ServiceError) -> ServiceURL {
        guard let url else { return service }
        var isBeginning = url.hasPrefix("{")
        let text = WordTemplate(url).filled { name in
            defer { isBeginning = false }
            let value = WordTemplate.plain(values[name]) ?? ""
            return isBeginning ? value : ServiceURL.percentEncoded(value)
        }
        return try service.resolving(location: text)
    }

    package func fields(by values: [String: String]) throws(ServiceError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for header in headers {
            let text = header.filled { WordTemplate.plain(values[$0]) ?? "" }.value
            if !text.isEmpty { fields.append(try HeaderField(name: header.name, value: text)) }
        }
        return fields
    }

    package func json(by values: [String: String]) -> [UInt8]? {
        guard case .json(let template) = content else { return nil }
        return Array((WordJSON.filled(template, by: values) ?? "{}").utf8)
    }

    package func text(by values: [String: String]) -> String? {
        guard case .text(let template) = content else { return nil }
        return WordTemplate(template).filled { WordTemplate.plain(values[$0]) }
    }

    package func isLed(by values: [String: String]) -> Bool {
        WordTemplate(url ?? "").words.contains { values[$0] != nil }
    }
}
