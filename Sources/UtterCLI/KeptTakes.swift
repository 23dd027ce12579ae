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
    static func flush(limit: Int, jobs: Int, by options: KeptTakeOptions) async throws {
        try await start(options) { session throws(CommandFailure) in
            let store = try TakeLookup.store()
            let waiting = try TakeLookup.takes(in: store) { $0.state == .kept }
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

    private static func start(
        _ options: KeptTakeOptions,
        _ body: (TakeSession) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        var keep = KeepOptions.standard
        keep.keepAudio = options.keepAudio
        try await Launch.takes(output: options.output, keep: keep, listensToEnter: false, body)
    }

    private static func folder(_ name: String) throws(CommandFailure) -> TakeFolder {
        guard name == "last" else { return try TakeLookup.take(name) }
        // The last that was answered has nothing left to be sent.
        let takes = try TakeLookup.takes(in: TakeLookup.store()) { $0.state != .answered }
        guard let last = takes.last else {
            throw CommandFailure(
                "no take waits for an answer", hint: "run 'utter list' to see what is kept",
                status: .noInput)
        }
        return try TakeLookup.take(last.id.text)
    }
}
