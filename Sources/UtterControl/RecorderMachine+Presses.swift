// SPDX-License-Identifier: Apache-2.0

internal import Utter

// Which presses begin a take here.
extension RecorderMachine {
    /// A request that may begin a take.
    struct Held: Sendable {
        let request: ControlRequest
        let client: ControlClientID?
        /// Whether a start that has found a recording waits no longer for its end; nil of others.
        var isOverdue: Bool?
    }

    /// Whether a request is not one of the press that this recorder is for, or a daemon of the take.
    func isOther(_ request: ControlRequest, than entry: Entry? = nil) -> Bool {
        if status.isDaemon { return entry.map { request.service != $0.request?.service } ?? false }
        return request.press != nil && press != nil && request.press != press
    }

    mutating func admitHeld() {
        let all = held
        held = []
        for request in all { admit(request) }
    }

    /// Decides about a request, or holds it while that depends on what goes on.
    private mutating func admit(_ next: Held) {
        let (request, client) = (next.request, next.client)
        if request.command == .start, hasEnded(request) {
            guard next.isOverdue != nil, let entry = entries.last else {
                return refuseStart(.stoppedBefore, to: client)
            }
            return tellRecording(entry, isOf: request, to: client)
        }
        guard requests == 0, !isExpecting || !isOther(request) else {
            return held.append(next)
        }
        guard let entry = entries.last(where: { !$0.isCaptured && $0.conclusion == nil }) else {
            let isItsOwn = entries.isEmpty && !isOther(request)
            return status.isDaemon || isItsOwn || client == nil
                ? pass(request, for: client) : giveUp(for: client)
        }
        // The microphone is still open for a take that was cancelled or has ended.
        guard status.take == entry.id.text, isRecording || status.phase == .tail else {
            return held.append(next)
        }
        guard isRecording else {
            guard isOther(request, than: entry) else { return pass(request, for: client) }
            actions.append(.endTail(entry.number))
            return held.append(next)
        }
        switch request.command {
        // The stop of that recording may have been begun first, and come last.
        case .start where request.begun != nil && client != nil && next.isOverdue != true:
            if next.isOverdue == nil, let client { actions.append(.hold(client)) }
            held.append(Held(request: request, client: client, isOverdue: false))
        // The take may be over by the time that this is carried out.
        case .toggle where client != nil:
            var end = request
            end.command = .stop
            pass(end, for: client)
        default: pass(request, for: client)
        }
    }

    /// Tells a client that begins nothing what is recorded.
    mutating func tellRecording(
        _ entry: Entry?, isOf request: ControlRequest, to client: ControlClientID?
    ) {
        let object = entry.map { " take \($0.id.text)" } ?? ""
        let others = isOther(request, than: entry) ? "; the options of its own start count" : ""
        // A press has no part in the take.
        let take = request.key == nil ? entry?.id.text : nil
        reply(.answer(.done("already recording\(object)\(others)", take: take)), to: client)
    }
}
