// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The control socket of a program that records: its thread is called `control`.
///
/// Usable from any thread.
final class ControlServer: Sendable {
    private let loop: WorkerLoop<ControlWorker>

    /// Begins to serve clients.
    ///
    /// - Parameters:
    ///   - owner: the socket.
    ///   - handler: does what clients ask for; kept until `shutDown`.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    init(_ owner: ControlOwner, _ handler: any ControlHandler) throws(SystemError) {
        loop = try WorkerLoop(name: "control") { ControlWorker(owner, handler) }
    }

    /// Answers a client.
    func reply(_ reply: ControlReply, to client: ControlClientID) {
        loop.send(.reply(reply, client))
    }

    /// Tells those who follow what happens.
    func tell(_ status: ControlStatus) { loop.send(.change(status)) }

    /// Gives a client the result that it waits for.
    func give(_ answer: ControlAnswer, report: String?, to client: ControlClientID) {
        loop.send(.result(answer, report: report, client))
    }

    /// Closes all connections, ends the thread and waits for it.
    func shutDown() { loop.shutDown() }
}
