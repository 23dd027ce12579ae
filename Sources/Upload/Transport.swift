// SPDX-License-Identifier: Apache-2.0

/// Carries requests to services and their answers back.
///
/// It knows no disk and decides no resend: each request is made once at most. `TransferLoop` is
/// the one that ships. Called from any thread.
package protocol Transport: AnyObject, Sendable {
    /// Starts a transfer: the connection is opened at once, whether there is a body or not.
    ///
    /// The observer is kept until `transferDidEnd`; after `shutDown` it is told `.cancelled` at once,
    /// on the calling thread.
    ///
    /// - Parameters:
    ///   - request: what to send, and where to.
    ///   - pause: how long to wait before it begins, unless it is hurried.
    ///   - atLeast: how long to wait even then.
    ///   - observer: told what happens, on the transport's thread.
    /// - Returns: its name, for `hurry` and `cancel`.
    func start(
        _ request: TransferRequest, after pause: Duration, atLeast: Duration,
        observer: any TransferObserver
    ) -> TransferID

    func hurry(_ id: TransferID)

    /// Breaks a transfer off: the connection is closed without an end of the body.
    ///
    /// The observer is told `.cancelled`, unless it has ended already.
    func cancel(_ id: TransferID)

    /// Cancels what still runs, and waits for the end.
    func shutDown()
}

extension Transport {
    package func start(
        _ request: TransferRequest, observer: any TransferObserver
    ) -> TransferID {
        start(request, after: .zero, atLeast: .zero, observer: observer)
    }
}
