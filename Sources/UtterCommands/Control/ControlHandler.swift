// SPDX-License-Identifier: Apache-2.0

/// Who does what clients of the control socket ask for.
///
/// Called on the control thread; must not block.
protocol ControlHandler: AnyObject, Sendable {
    /// Does what a client asks for; the answer is sent to the worker, once.
    func receive(_ request: ControlRequest, from client: ControlClientID)

    /// A client that waited for a result has printed it, or has gone without.
    func didEnd(_ client: ControlClientID, hasPrinted: Bool)
}

/// What becomes of a request.
enum ControlReply: Sendable, Equatable {
    /// It is answered.
    case answer(ControlAnswer)
    /// It is answered, and its result follows.
    case wait(ControlAnswer)
    /// It is answered with what happens, now and from now on.
    case follow(ControlStatus)
    /// It is not answered, because the program ends: the client asks again, elsewhere.
    case leave
}
