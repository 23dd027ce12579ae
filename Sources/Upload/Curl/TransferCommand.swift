// SPDX-License-Identifier: Apache-2.0

/// What other threads ask the transfer loop for.
enum TransferCommand: Sendable {
    /// A transfer that has not begun.
    struct Start: Sendable {
        let id: TransferID
        let request: TransferRequest
        let observer: any TransferObserver
        /// The earliest that it may begin, even in a hurry.
        let notBefore: ContinuousClock.Instant
        /// When it begins.
        var due: ContinuousClock.Instant
    }

    case start(Start)
    case hurry(TransferID)
    case cancel(TransferID)
}
