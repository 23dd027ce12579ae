// SPDX-License-Identifier: Apache-2.0

import Utter
import UtterTerminal

/// Sends takes of earlier runs, one after the other.
enum KeptTakes {
    /// Sends what `names` name; "all" is every take that waits for an answer, oldest first.
    ///
    /// The status is that of the first failure; the others are sent all the same, unless
    /// somebody wants to leave.
    static func send(
        _ names: [String], limit: Int, by service: ServiceOptions, _ output: OutputOptions,
        keepsAudio: Bool
    ) async throws {
        var keep = KeepOptions.standard
        keep.keepAudio = keepsAudio
        try await Launch.takes(output: output, keep: keep, listensToEnter: false) {
            session throws(CommandFailure) in
            var status = ExitStatus.textPrinted
            for folder in try folders(names).prefix(limit) {
                let plan = try service.delivery(of: try TakeLookup.manifest(folder).url)
                let next = await session.resend(folder, by: plan)
                if status == .textPrinted { status = next }
                if next.isByRequest { return next }
            }
            return status
        }
    }

    private static func folders(_ names: [String]) throws(CommandFailure) -> [TakeFolder] {
        if names == ["all"] {
            return try TakeLookup.takes { $0.state == .kept || $0.state == .sealed }
        }
        return try names.map { name throws(CommandFailure) in
            guard name == "last" else { return try TakeLookup.take(name) }
            // The last that was answered has nothing left to be sent.
            guard let last = try TakeLookup.takes(where: { $0.state != .answered }).last else {
                throw CommandFailure(
                    "no take waits for an answer", hint: "run 'utter list' to see what is kept",
                    status: .noInput)
            }
            return last
        }
    }
}
