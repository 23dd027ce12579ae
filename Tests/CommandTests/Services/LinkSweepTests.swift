// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

/// Faults at every place of the exchange, seen by who runs the program: its output, its status,
/// its messages, and what `utter retry all` delivers afterwards.
///
/// Each transfer has a connection of its own, so that there is no other kind to be harmed.
@Suite struct LinkSweepTests {
    /// A fault, struck by takes at 40 places.
    struct Sweep: Sendable, CustomTestStringConvertible {
        var kind: LinkFault.Kind
        var direction: LinkFault.Direction

        static let all = LinkFault.Direction.allCases.flatMap { direction in
            [.reset, .finish, .halfClose, .stall(.milliseconds(300)), .blackHole].map {
                Sweep(kind: $0, direction: direction)
            }
        }

        var testDescription: String { "\(kind) \(direction)" }

        /// How many bytes pass before.
        ///
        /// The request is its head of 400 bytes or so, a chunk's framing, the samples and an end.
        /// The answer is 74 bytes; its place 0 is a lost answer.
        var offsets: [Int] {
            switch direction {
            case .toService:
                Array(stride(from: 0, to: 480, by: 19)) + stride(from: 700, to: 16_000, by: 1_200)
                    + [16_350]
            case .toClient: (0..<40).map { $0 * 73 / 39 }
            }
        }

        /// A link that swallows everything makes the program wait for an answer in vain, so briefly.
        var deadline: [String] {
            kind == .blackHole ? ["-c", "transfer.answer-seconds=2s"] : []
        }

        /// Whether a take goes on although it was harmed, without a second attempt.
        var isHarmless: Bool { if case .stall = kind { true } else { false } }
    }

    /// The result of an `utter send` through a harmed connection, and its take.
    private struct Sent: Sendable {
        var offset: Int
        var id: String
        var saysTwice: Bool
    }

    private static let samples = WAVBytes.pcm(
        { () -> [Int16] in
            var random = SeededRandom(seed: 7)
            return random.noise(count: 8_000)
        }())

    @Test(arguments: Sweep.all)
    func aTakeIsAnsweredOrKeptWhereverTheLinkFails(_ sweep: Sweep) async throws {
        let ledger = TakeLedger()
        // A connection that stands still lasts as long as its proxy.
        let server = try RecordingServer(otherwise: ledger.script, limit: .seconds(600))
        let bench = try Bench(server: server)
        try bench.folder.write(
            WAVBytes.file([
                WAVBytes.chunk("fmt ", WAVBytes.format()), WAVBytes.chunk("data", Self.samples),
            ]), to: "voice.wav")
        // A kept take is sent again to where it was meant to go.
        let proxies = try sweep.offsets.map { offset in
            try FaultProxy(
                to: server.port,
                plans: [LinkPlan(LinkFault(sweep.kind, sweep.direction, at: offset))])
        }
        let sent = Mutex<[Sent]>([])
        var problems = try await inLanes(16, Array(proxies.indices)) { index in
            let offset = sweep.offsets[index]
            // Every other one tries again by itself.
            let isPatient = index % 2 == 1
            let result = try await bench.start(
                ["send", "--to", proxies[index].url(), bench.folder.path("voice.wav")]
                    + (isPatient ? [] : ["-c", "retry.never=true"]) + sweep.deadline
            ).result()
            let (id, wrongs) = Self.wrongs(of: result, on: bench)
            if let id {
                let saysTwice = result.errorText.contains("utter: sent twice: ")
                sent.withLock { $0.append(Sent(offset: offset, id: id, saysTwice: saysTwice)) }
            }
            let isDelivered = result.status == .exited(0)
            let late = sweep.isHarmless || isPatient ? !isDelivered : false
            return (wrongs + (late ? ["was not delivered"] : [])).map {
                "at \(offset): \($0): \(result.errorText)"
            }
        }
        #expect(problems == [])
        // The last place in the request may lie behind its end, as long as its head happens to be.
        let reached = zip(sweep.offsets, proxies).filter { offset, proxy in
            let passed = proxy.passed()
            return offset <= (sweep.direction == .toService ? passed.request : passed.answer)
        }
        #expect(reached.count >= (sweep.direction == .toService ? 39 : 40))

        let takes = sent.withLock { $0 }
        let kept = try bench.takes().filter { try $0.manifest["state"] == .string("kept") }
        #expect(sweep.isHarmless ? kept.isEmpty : kept.count > 3)
        let retry = try await bench.run("flush")
        #expect(retry.status == .exited(0), "\(retry.errorText)")
        // Takes of one moment are in the order in which they were named.
        let texts = retry.outputText.split(separator: "\n").map(String.init)
        #expect(texts.sorted() == kept.map { "take \"\($0.id)\"" })

        let all = Dictionary(uniqueKeysWithValues: try bench.takes().map { ($0.id, $0) })
        problems = try await inLanes(4, Array(takes.enumerated())) { index, take in
            // The program shows a take as it is remembered: the first is asked for.
            let shown =
                index == 0
                ? try ParsedJSON(try await bench.run("show", "--json", take.id).output)
                : try #require(all[take.id]).manifest
            let saysTwice =
                take.saysTwice || retry.errorText.contains("take \(take.id) was sent twice")
            return Self.wrongs(
                of: shown, saysTwice: saysTwice,
                committed: ledger.entries.filter { $0.id == "\"\(take.id)\"" },
                requests: server.requests.filter { $0["Idempotency-Key"] == "\"\(take.id)\"" },
                harmed: sweep.direction
            ).map { "at \(take.offset): \($0)" }
        }
        #expect(problems == [])
        #expect(takes.count == proxies.count)
        #expect(server.problems == [])
    }

    /// Compares the program's words and status with those of a take that was answered or kept.
    ///
    /// - Returns: The take's name, and all differences.
    private static func wrongs(
        of result: CommandResult, on bench: Bench
    ) -> (id: String?, problems: [String]) {
        let errors = result.errorText.split(separator: "\n")
        switch result.status {
        case .exited(0):
            let text = result.outputText
            guard text.hasPrefix("take \""), text.hasSuffix("\"\n") else { return (nil, [text]) }
            return (String(text.dropFirst(6).dropLast(2)), [])
        case .exited(75):
            let kept = errors.first { $0.hasPrefix("utter: kept: ") }
            let parts = (kept?.split(separator: " ").dropFirst(2).first ?? "").split(separator: "/")
            guard let id = parts.dropLast().last.map(String.init) else {
                return (nil, ["does not say where the take is"])
            }
            var problems: [String] = []
            if !errors.contains("utter: hint: send it again with: utter retry \(id.asInHints)") {
                problems.append("does not say how to send it")
            }
            if !result.output.isEmpty { problems.append("prints \(result.outputText)") }
            let path = "/" + parts.joined(separator: "/")
            // A file that cannot be read counts as one that is not there.
            if (try? readFile(path))?.dropFirst(44) != samples[...] {
                problems.append("not all is in \(path)")
            }
            return (id, problems)
        default: return (nil, ["\(result.status)"])
        }
    }

    /// Compares a take's account with the book of the service, and returns all differences.
    private static func wrongs(
        of take: ParsedJSON, saysTwice: Bool, committed: [TakeLedger.Entry],
        requests: [RecordedRequest], harmed: LinkFault.Direction
    ) -> [String] {
        guard committed.count == 1, committed[0].body == samples else {
            return ["\(committed.count) different bodies were committed, or not the journal's"]
        }
        var problems: [String] = []
        if take["state"] != .string("answered") { problems.append("not answered") }
        let history = (0..<20).compactMap { take["history"]?[$0] }
        let numbers = history.compactMap { $0["number"]?.number.map { Int($0) } }
        let whole = history.filter { $0["wasWhole"] == .bool(true) }
            .compactMap { $0["number"]?.number.map { Int($0) } }
        let seen = requests.compactMap { $0["Utter-Attempt"].flatMap { Int($0) } }
        let taken = committed[0].attempts.compactMap { Int($0) }
        if numbers != Array(1...max(1, numbers.count)) { problems.append("lists \(numbers)") }
        // A request whose head did not arrive whole has no number.
        if seen != seen.sorted() || Set(seen).count < seen.count || !Set(seen).isSubset(of: numbers)
        {
            problems.append("requests \(seen), listed \(numbers)")
        }
        if taken != seen.filter({ taken.contains($0) }) || !Set(taken).isSubset(of: whole) {
            problems.append("committed \(taken), listed as whole \(whole)")
        }
        // The answer is harmed when the request has arrived.
        if harmed == .toClient, taken != whole {
            problems.append("committed \(taken), listed as whole \(whole)")
        }
        if saysTwice != (whole.count > 1) {
            problems.append("whole \(whole), said to be sent twice: \(saysTwice)")
        }
        return problems
    }
}
