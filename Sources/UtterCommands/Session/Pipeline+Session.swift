// SPDX-License-Identifier: Apache-2.0

internal import Utter

extension Pipeline {
    /// How long an `utter list` may hold the lock of a take that it brings to an end.
    private static let patience = Duration.seconds(2)

    /// Whether a recording that the disk has not taken may be written to another place, unasked.
    var mayWriteElsewhere: Bool { spool.map { !$0.encrypts } ?? false }

    /// Sends a kept take; waits a moment for its lock while another process looks at the take.
    ///
    /// - Throws: `TakeStoreError`.
    func patientlyResend(
        _ folder: TakeFolder, by plan: DeliveryPlan, ifStillAfter attempts: Int? = nil
    ) async throws(TakeStoreError) -> Take {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(TakeStoreError) {
                return try resend(folder, by: plan, ifStillAfter: attempts)
            } catch {
                guard case .inUse(_, _, isSending: false) = error, deadline > .now else {
                    throw error
                }
                guard await folder.isFree(by: deadline) else { throw error }
            }
        }
    }
}
