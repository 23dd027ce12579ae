// SPDX-License-Identifier: Apache-2.0

/// A place that takes files by PUT.
package final class ObjectServer: Sendable {
    /// How it treats requests.
    package enum Mood: Sendable {
        /// It stores what it has not got, and answers 201.
        case kind
        /// It answers 503.
        case away
        /// It stores what it has not got, and answers 500.
        case confused
        /// Something else is there wherever an object would go.
        case full
    }

    private struct Contents: Sendable {
        var objects: [String: [UInt8]] = [:]
        /// Said with an object, and told with it.
        var fields: [String: [HeaderField]] = [:]
        var mood = Mood.kind

        mutating func answer(_ request: RecordedRequest) -> ServerAnswer {
            if mood == .away { return ServerAnswer(status: 503, text: "") }
            let known = mood == .full ? [1, 2, 3] : objects[request.target]
            switch (request.method, known) {
            case ("HEAD", let object?):
                let length = HeaderField("Content-Length", "\(object.count)")
                return ServerAnswer(
                    headers: [length] + (fields[request.target] ?? []), text: "")
            case ("PUT", nil):
                objects[request.target] = request.body
                fields[request.target] = request.headers.filter {
                    $0.name.lowercased().hasPrefix("x-amz-meta-")
                }
                return ServerAnswer(status: mood == .confused ? 500 : 201, text: "")
            case ("PUT", _): return ServerAnswer(status: 412, text: "")
            default: return ServerAnswer(status: 404, text: "")
            }
        }
    }

    /// What it is made of.
    package let server: RecordingServer
    private let contents: Observed<Contents>

    /// Starts one; the answer to the request of this number, from 0, waits for the gate.
    package init(stallingAt number: Int = .max, until gate: Gate = Gate()) throws {
        let contents = Observed(Contents())
        self.contents = contents
        let read: [ServerStep] = [.readHead, .readBodyToEnd]
        let answer = ServerStep.respondBy { request in
            contents.update { $0.answer(request) }
        }
        var scripts: [[ServerStep]] = []
        if number < .max {
            scripts = Array(repeating: read + [answer], count: number)
            scripts.append(read + [.stallUntil(gate), answer])
        }
        server = try RecordingServer(scripts: scripts, otherwise: read + [answer])
    }

    /// Its mood, which may change at any time.
    package var mood: Mood {
        get { contents.look { $0.mood } }
        set { contents.update { $0.mood = newValue } }
    }

    /// What it has, by their targets.
    package var objects: [String: [UInt8]] { contents.look { $0.objects } }

    /// Waits until it has so many; false when it does not come.
    package func wait(untilObjects count: Int) async -> Bool {
        await contents.wait(within: .patience) { $0.objects.count >= count ? true : nil } ?? false
    }

    /// The only object of a name with this end.
    package subscript(suffix: String) -> [UInt8]? {
        let found = objects.filter { $0.key.hasSuffix("." + suffix) }
        return found.count == 1 ? found.first?.value : nil
    }
}
