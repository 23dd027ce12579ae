// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells any number of listeners what happens, each at its own pace.
///
/// From any thread; waits for no listener. Each listener has its own waiting elements, some of
/// which may be dropped. A late one begins with the remembered elements.
final class Broadcast<Element: Sendable>: Sendable {
    /// Adds an element to the waiting ones, and drops those without room.
    typealias Adding = @Sendable (inout [Element], Element) -> Void

    private struct Listener {
        let number: Int
        var waiting: [Element]
        var call: CheckedContinuation<Element?, Never>?
    }

    private struct State {
        var remembered: [Element] = []
        var listeners: [Listener] = []
        var observers: [@Sendable (Element?) -> Void] = []
        var lastListener = 0
        var isFinished = false

        func index(of number: Int) -> Int? { listeners.firstIndex { $0.number == number } }
    }

    /// A listener, which leaves when its stream is released.
    private final class Seat: Sendable {
        let broadcast: Broadcast
        let number: Int

        init(_ broadcast: Broadcast) {
            self.broadcast = broadcast
            number = broadcast.state.withLock { state in
                state.lastListener += 1
                state.listeners.append(
                    Listener(number: state.lastListener, waiting: state.remembered))
                return state.lastListener
            }
        }

        deinit { leave() }

        func leave() {
            let call = broadcast.state.withLock { state in
                state.index(of: number).flatMap { state.listeners.remove(at: $0).call }
            }
            call?.resume(returning: nil)
        }

        func next() async -> Element? { await broadcast.next(for: number) }
    }

    private let memory: Int
    private let adding: Adding
    private let state = Mutex(State())

    init(
        remembering memory: Int = .max,
        adding: @escaping Adding = { elements, element in
            elements.append(element)
            if elements.count > 256 { elements.removeFirst() }
        }
    ) {
        (self.memory, self.adding) = (memory, adding)
    }

    var stream: AsyncStream<Element> {
        let seat = Seat(self)
        return AsyncStream(unfolding: { await seat.next() }, onCancel: { seat.leave() })
    }

    /// Calls `body` with what is remembered, with each later element, and with nil at the end.
    ///
    /// In order, under a lock: `body` only hands elements on.
    func observe(_ body: @escaping @Sendable (Element?) -> Void) {
        state.withLock { state in
            for element in state.remembered { body(element) }
            if state.isFinished { body(nil) } else { state.observers.append(body) }
        }
    }

    func add(_ element: Element) {
        let calls = state.withLock { state -> [CheckedContinuation<Element?, Never>] in
            guard !state.isFinished else { return [] }
            adding(&state.remembered, element)
            state.remembered.removeFirst(max(0, state.remembered.count - memory))
            for observer in state.observers { observer(element) }
            var calls: [CheckedContinuation<Element?, Never>] = []
            for index in state.listeners.indices {
                if let call = state.listeners[index].call.take() {
                    calls.append(call)
                } else {
                    adding(&state.listeners[index].waiting, element)
                }
            }
            return calls
        }
        for call in calls { call.resume(returning: element) }
    }

    /// Late listeners do not begin with these.
    func forget(where isOver: (Element) -> Bool) {
        state.withLock { $0.remembered.removeAll(where: isOver) }
    }

    func finish() {
        let calls = state.withLock { state in
            state.isFinished = true
            for observer in state.observers { observer(nil) }
            state.observers = []
            return state.listeners.indices.compactMap { state.listeners[$0].call.take() }
        }
        for call in calls { call.resume(returning: nil) }
    }

    private func next(for number: Int) async -> Element? {
        await withCheckedContinuation { continuation in
            let (element, call) = state.withLock {
                state -> (Element??, CheckedContinuation<Element?, Never>?) in
                guard let index = state.index(of: number) else { return (.some(nil), nil) }
                guard state.listeners[index].waiting.isEmpty else {
                    return (state.listeners[index].waiting.removeFirst(), nil)
                }
                guard !state.isFinished else { return (.some(nil), nil) }
                // A second call at the same time ends the first.
                defer { state.listeners[index].call = continuation }
                return (nil, state.listeners[index].call)
            }
            if let element { continuation.resume(returning: element) }
            call?.resume(returning: nil)
        }
    }
}

extension TakeEvent {
    /// Waiting events.
    private static let limit = 256
    /// Bytes of waiting transcripts, the newest not counted.
    private static let byteLimit = 256 << 10

    /// Adds an event to a listener's waiting ones.
    ///
    /// Progress replaces earlier progress. So do long transcripts: an answer in many pieces would
    /// fill the memory with its copies. When there are too many, the oldest transcript but the
    /// newest is dropped, then the oldest event.
    static func add(_ event: TakeEvent, to events: inout [TakeEvent]) {
        switch event {
        case .progress:
            events.removeAll { if case .progress = $0 { true } else { false } }
        case .heard(let transcript):
            let byteCount = events.reduce(transcript.byteCount) { $0 + $1.byteCount }
            if byteCount > byteLimit { events.removeAll { $0.isTranscript } }
        default: break
        }
        events.append(event)
        guard events.count > limit else { return }
        let oldest = events.firstIndex(where: \.isTranscript)
        let newest = events.lastIndex(where: \.isTranscript)
        let isOnly = oldest == newest
        events.remove(at: isOnly ? (newest == 0 ? 1 : 0) : oldest ?? 0)
    }

    private var isTranscript: Bool { if case .heard = self { true } else { false } }

    private var byteCount: Int {
        if case .heard(let transcript) = self { transcript.byteCount } else { 0 }
    }
}
