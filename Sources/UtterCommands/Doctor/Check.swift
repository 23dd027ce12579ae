// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Glibc
internal import Utter
internal import UtterSettings
internal import UtterTerminal

/// A thing that `utter doctor` looks at.
///
/// Another is added as a type of its own, and to the list of `DoctorCommand`.
protocol Check: Sendable {
    var name: String { get }

    /// Looks, keeps nothing, and says what was found; may take seconds.
    func run() async -> [Finding]
}

struct Finding {
    enum Verdict: String {
        case good, warning, bad
    }

    var verdict: Verdict
    /// The observation, in one line without capital and full stop.
    var text: String
    var hint: String?

    var object: JSONObject { ["verdict": verdict.rawValue, "text": text, "hint": hint] }

    static func good(_ text: String) -> Finding { Finding(verdict: .good, text: text, hint: nil) }

    static func warning(_ text: String, hint: String? = nil) -> Finding {
        Finding(verdict: .warning, text: text, hint: hint)
    }

    static func bad(_ text: String, hint: String? = nil) -> Finding {
        Finding(verdict: .bad, text: text, hint: hint)
    }

    static func bad(_ failure: CommandFailure) -> Finding {
        .bad(failure.message, hint: failure.hint)
    }
}

struct ConfigurationCheck: Check {
    let name = "settings"

    func run() async -> [Finding] {
        do throws(CommandFailure) {
            try SettingsListing.check()
            for name in Services.names { _ = try Services.profile(name) }
        } catch {
            return [.bad(error)]
        }
        return [.good(ConfigurationFile.state)]
    }
}

struct InstallationCheck: Check {
    let name = "installation"

    /// The files to look for from the prefix on, and their purposes.
    private static let installed = [
        ("share/man/man1/utter.1", "the manual"),
        ("libexec/utter/utter-endpoint", "utter serve and utter demo"),
        ("libexec/utter/utter-ear", "utter demo, and utter serve where no recogniser is installed"),
        ("libexec/utter/utter-keys", "utter keys"),
        ("share/bash-completion/completions/utter", "completions for bash"),
    ]

    private static let deafness = Finding.warning(
        "this utter was built without a voice detector: each recording goes on for 800 ms after "
            + "its stop, and silence ends none",
        hint: "install libwebrtc-audio-processing-dev, then build this program once more")

    func run() async -> [Finding] { files + (VoiceDetector.name == nil ? [Self.deafness] : []) }

    private var files: [Finding] {
        let folder = Launch.programFolder
        guard folder.hasSuffix("/bin") else {
            return [
                .warning(
                    "utter runs from \(folder), where it was built",
                    hint: "install it with: make install PREFIX=~/.local")
            ]
        }
        let prefix = String(folder.dropLast(4))
        let missing = Self.installed.filter { path, _ in
            // A package compresses manuals.
            unsafe access("\(prefix)/\(path)", F_OK) != 0
                && access("\(prefix)/\(path).gz", F_OK) != 0
        }
        guard !missing.isEmpty else { return [.good("all files are in \(prefix)")] }
        return missing.map { path, use in
            .warning("\(prefix)/\(path) is missing: \(use)", hint: "install utter once more")
        }
    }
}

struct StateCheck: Check {
    let name = "recordings"
    /// Whether a person at the terminal may be asked.
    let asks: Bool

    func run() async -> [Finding] {
        let folder = Environment.stateFolder
        let store: TakeStore
        do throws(TakeStoreError) {
            store = try TakeStore(stateFolder: folder, key: nil)
        } catch {
            return [.bad(error.description, hint: error.hint)]
        }
        var findings: [Finding] = []
        do throws(CommandFailure) {
            if let shortage = SpoolRules(try KeepOptions.standard.limits).shortage(of: store) {
                findings.append(
                    .bad(
                        "recordings cannot be kept: \(shortage.description)",
                        hint: Hints.of(shortage)))
            } else {
                let hint = "free some space, or set XDG_STATE_HOME to a folder on another disk"
                _ = try explained("recordings are held in memory only", hint: hint) {
                    try TextFile(
                        [UInt8](repeating: 0, count: Self.trialBytes), named: "doctor", in: folder)
                }
            }
        } catch {
            findings.append(.bad(error))
        }
        // The listing itself reports a folder that cannot be listed.
        let waiting = (try? Spool(at: folder).takes(where: .waiting).count) ?? 0
        if waiting > 0 {
            findings.append(
                .warning(
                    waiting == 1
                        ? "1 recording waits for its answer"
                        : "\(waiting) recordings wait for their answers",
                    hint: "send them with: utter flush"))
        }
        findings += learnedLimits(of: Spool(at: folder))
        do throws(CommandFailure) {
            let archive = try KnownSettings.archive()
            let spool = Spool(at: folder)
            // An unreadable folder is told elsewhere, here and below.
            let unqueued = (try? spool.takes().count(where: spool.isUnqueued)) ?? 0
            let report = ArchiveReport(of: spool, unqueued: unqueued)
            if let line = report.waitingLine {
                findings.append(.warning(line, hint: ArchiveReport.hint))
            }
            // Without a list, only the archive's own place is asked.
            let takes = (try? spool.takes().reversed() + spool.queue.takes()) ?? []
            var places: [[String: String]] = []
            let plans = takes.prefix(100).map { try? DeliveryPlan(of: $0) }  // No plan, no place.
            for delivery in [archive?.delivery] + plans {
                guard let delivery, let place = delivery.uploadPlace, !places.contains(place),
                    places.count < Self.placeLimit
                else { continue }
                places.append(place)
                findings += await openUploads(at: delivery, of: takes)
            }
        } catch {
            findings.append(.bad(error))
        }
        return findings.isEmpty ? [.good("recordings are kept in \(folder)/takes")] : findings
    }
}

extension StateCheck {
    /// A disk that has no room for two seconds of sound is full.
    private static let trialBytes = 1 << 16
    /// Folders of stores that are asked.
    private static let placeLimit = 8

    /// Says which services have refused recordings as too large, and offers to forget it.
    private func learnedLimits(of spool: Spool) -> [Finding] {
        let limits = spool.learnedLimits()
        let findings = limits.map { limit in
            let longest = StatusLine.clock(limit.longest)
            return Finding(
                verdict: .good,
                text:
                    "longer recordings are cut for \(TerminalText.shown(limit.url)): it has refused "
                    + "one as too large, and takes \(longest)",
                hint: "that is known since \(LocalTime(limit.since).exact), and for a day")
        }
        let question = "Do services take longer recordings by now? Forget what they have refused?"
        // Without an answer nothing is forgotten.
        let isSure = try? !limits.isEmpty && asks && Dialogue().confirms(question, usually: false)
        guard isSure == true else { return findings }
        do throws(TakeStoreError) {
            try spool.forgetLearnedLimits()
            return [.good("forgotten: which services have refused recordings as too large")]
        } catch {
            return [.bad(error.description, hint: error.hint)]
        }
    }

    /// Says which uploads were begun more than a day ago and never ended, and offers to drop them, but
    /// for those with which takes go on.
    private func openUploads(
        at delivery: DeliveryPlan, of takes: [KeptTake]
    ) async -> [Finding] {
        do {
            let pipeline = try Pipeline(spool: nil, secrets: SecretAsker().answer)
            defer { pipeline.shutDown() }
            let day = Duration.seconds(86_400)
            let known = Set(takes.flatMap { $0.known?.progress?.values.values.sorted() ?? [] })
            let uploads = (try await pipeline.openUploads(at: delivery, olderThan: day) ?? [])
                .filter { !known.contains($0.id) }
            guard let first = uploads.first else { return [] }
            let count = uploads.count == 1 ? "1 upload" : "\(uploads.count) uploads"
            let text =
                "\(count) at the store began more than a day ago and never ended, such as "
                + "'\(TerminalText.shown(first.key))' of \(TerminalText.shown(first.begun))"
            let question = "\(text). Have the store drop them?"
            guard asks, try Dialogue().confirms(question, usually: false) else {
                let hint = "their parts are paid for; at a terminal, doctor drops them"
                return [.warning(text, hint: hint)]
            }
            for upload in uploads { try await pipeline.abort(upload, at: delivery) }
            return [.good("the store has dropped \(count) that never ended")]
        } catch {
            return [.warning("the store does not say which uploads are open: \(error)")]
        }
    }
}
