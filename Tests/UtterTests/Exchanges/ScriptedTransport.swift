// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import LinuxPlatform
@testable import Upload

/// A transport without a network: each request ends as the test's script says.
final class ScriptedTransport: Transport {
    struct Ending: Sendable {
        var result: TransferResult
        /// The body of the answer, of type `text/plain`.
        var answer = ""

        static func answered(_ text: String) -> Ending {
            Ending(result: TransferResult.test(.answered, status: 200), answer: text)
        }
    }

    struct Made: Sendable {
        let request: TransferRequest
        let pause: Duration
    }

    private struct State {
        var script: [Ending]
        var made: [Made] = []
        var threads: [NamedThread] = []
    }

    private let state: Mutex<State>

    init(_ script: [Ending]) { state = Mutex(State(script: script)) }

    var made: [Made] { state.withLock { $0.made } }

    func start(
        _ request: TransferRequest, after pause: Duration, atLeast: Duration,
        observer: any TransferObserver
    ) -> TransferID {
        let (ending, number) = state.withLock { state in
            state.made.append(Made(request: request, pause: pause))
            return (state.script.isEmpty ? nil : state.script.removeFirst(), state.made.count)
        }
        // Not the caller's thread, as with the one that ships; without a thread nothing ends.
        let thread = try? NamedThread(name: "test-transport") {
            guard let ending else {
                return observer.transferDidEnd(.test(.badResponse("the script is over")))
            }
            if let status = ending.result.status {
                observer.transferDidReceiveHead(
                    status: status, headers: [(name: "content-type", value: "text/plain")])
                observer.transferDidReceive(Array(ending.answer.utf8).span)
            }
            observer.transferDidEnd(ending.result)
        }
        if let thread { state.withLock { $0.threads.append(thread) } }
        return TransferID(number: number)
    }

    func hurry(_: TransferID) {}

    func cancel(_: TransferID) {}

    func shutDown() {
        for thread in state.withLock({ $0.threads }) { thread.join() }
    }
}

extension TransferResult {
    /// The end of a transfer that sent all, unless it is said otherwise.
    static func test(
        _ ending: Ending, status: Int? = nil, isBodyComplete: Bool = true,
        hasReusedConnection: Bool = false
    ) -> TransferResult {
        TransferResult(
            ending: ending, status: status, headers: [], sentByteCount: 640, wireByteCount: 640,
            isBodyComplete: isBodyComplete, timings: TransferTimings(),
            hasReusedConnection: hasReusedConnection)
    }
}
