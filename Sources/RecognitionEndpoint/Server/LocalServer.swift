// SPDX-License-Identifier: Apache-2.0

package protocol LocalServer: Sendable {
    /// Listens and answers until `shutdown` is called or the task is cancelled; once.
    ///
    /// - Parameter onReady: called with the port once clients can connect.
    /// - Throws: `RecognitionEndpointError` when the address cannot be listened on.
    func run(
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws(RecognitionEndpointError)

    /// Lets the work that runs finish and ends `run`; without effect when it has ended.
    ///
    /// From any thread; returns at once.
    func shutdown()
}

extension RecognitionEndpoint: LocalServer {}
