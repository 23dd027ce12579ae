// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// A session of which the handshake is over, at times that the test says.
@Suite struct SocketChannelTests {
    @Test(arguments: [
        ([0, 300, 600, 900], true), ([0, 300, 600, 900, 999], false),
        ([0, 300, 600, 900, 1_000, 1_300], true),
        (Array(stride(from: 0, to: 60_000, by: 260)), true),
    ])
    func moreThanFourPingsInASecondEndIt(_ milliseconds: [Int], _ goesOn: Bool) throws {
        var channel = SocketChannel(SocketMessages(), to: try ServiceURL("ws://127.0.0.1/"), [])
        channel.open()
        let start = ContinuousClock.now
        var endings: [TransferResult.Ending?] = []
        for time in milliseconds {
            channel.take(SocketReaderTests.frame(9, [7]).span)
            let step = channel.next(now: start + .milliseconds(time))
            if case .closed(let ending)? = step { endings.append(ending) }
        }
        let reason = "it breaks the rules of a WebSocket: it pings more than 4 times a second"
        #expect(endings == (goesOn ? [] : [.badResponse(reason)]))
    }
}
