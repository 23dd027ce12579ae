// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

// What was promised of the disk.
extension TakeSession {
    /// Makes sure that the folder of takes is ours alone, and that takes can be kept,
    /// if that was required.
    func checkStore() throws(CommandFailure) {
        guard let spool = pipeline.spool else { return }
        do throws(TakeStoreError) {
            _ = try spool.store()
        } catch {
            if case .folderUnsafe = error { throw CommandFailure(error) }
            guard requiresKeep else { return }
            throw CommandFailure(error.description, hint: Hints.of(error), status: .localIO)
        }
        guard requiresKeep, let shortage = spool.shortage else { return }
        throw CommandFailure(
            "the take cannot be kept: \(shortage.description)", hint: Hints.of(shortage),
            status: .localIO)
    }

    /// How the process should exit after a take: one that had to be kept, and is not, has failed
    /// whatever the service says.
    func status(of outcome: TakeOutcome) -> ExitStatus {
        let status = ExitStatus(outcome)
        let isBroken = requiresKeep && outcome.unprotected != nil
        return isBroken && !status.isByRequest && status != .internalError ? .localIO : status
    }

    /// Says of a take that had to be kept that it is not.
    func brokenPromise(_ outcome: TakeOutcome) -> [ToldLine] {
        guard requiresKeep, let reason = outcome.unprotected else { return [] }
        return [.error("the take could not be kept: \(reason)")]
    }
}
