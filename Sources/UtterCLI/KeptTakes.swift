// SPDX-License-Identifier: Apache-2.0

import Utter
import UtterTerminal

/// Sends takes of earlier runs.
enum KeptTakes {
    /// Sends the takes that `names` name, one after the other.
    ///
    /// The status is that of the first failure; the others are sent all the same, unless
    /// somebody wants to leave.
    static func send(_ names: [String], by options: KeptTakeOptions) async throws {
        try await start(options) { session throws(CommandFailure) in
            var status = ExitStatus.textPrinted
            for name in names {
                var next: ExitStatus
                do throws(CommandFailure) {
                    let folder = try folder(name)
                    let plan = try options.service.delivery(of: try TakeLookup.manifest(folder).url)
                    next = await session.resend(folder, by: plan)
                } catch {
                    error.report(json: options.output.json)
                    next = error.status
                }
                if status == .textPrinted { status = next }
                if next.isByRequest { return next }
            }
            return status
        }
    }

    /// Sends all that waits, oldest first, at most `limit` takes and `jobs` at a time.
    ///
    /// What has waited for longer than `maxAge` is named, and left for whoever asks for it.
    static func flush(
        limit: Int = .max, jobs: Int = 1, maxAge: Duration? = nil, by options: KeptTakeOptions
    ) async throws {
        try await start(options) { session throws(CommandFailure) in
            guard let store = try TakeLookup.store() else { return .textPrinted }
            let times = WaitingTime(in: store)
            let isOld = { (id: TakeID) in maxAge.map { times.duration(of: id) >= $0 } ?? false }
            let kept = try TakeLookup.takes(in: store) { $0.state == .kept }
            let waiting = kept.filter { !isOld($0.id) }
            if !options.output.quiet { tell(old: kept.map(\.id).filter(isOld)) }
            var items: [Flush.Item] = []
            for manifest in waiting.prefix(limit) {
                items.append(
                    Flush.Item(
                        id: manifest.id, plan: try options.service.delivery(of: manifest.url)))
            }
            var flush = Flush(items, in: session)
            return await flush.run(jobs: jobs)
        }
    }

    /// Names the takes that nobody has asked for in a long time.
    private static func tell(old ids: [TakeID]) {
        guard !ids.isEmpty else { return }
        let names = ids.map(\.text)
        StandardError.line(
            ids.count == 1
                ? "take \(names[0]) is too old to be sent unasked"
                : "\(ids.count) takes are too old to be sent unasked")
        StandardError.hint(
            "send what is old with: utter retry "
                + (ids.count <= 5 ? names.joined(separator: " ") : "all"))
    }

    private static func start(
        _ options: KeptTakeOptions,
        _ body: (TakeSession) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        var keep = KeepOptions.standard
        keep.keepAudio = options.keepAudio
        try await Launch.takes(output: options.output, keep: keep, listensToEnter: false, body)
    }

    private static func folder(_ name: String) throws(CommandFailure) -> TakeFolder {
        guard let steps = TakeNames.stepsBack(name) else { return try TakeLookup.take(name) }
        // The last that was answered has nothing left to be sent.
        let takes = try TakeLookup.takes(in: TakeLookup.store()) { $0.state != .answered }
        guard let last = takes.dropLast(steps).last else {
            throw CommandFailure(
                "no take waits for an answer", hint: "run 'utter list' to see what is kept",
                status: .noInput)
        }
        return try TakeLookup.take(last.id.text)
    }
}
