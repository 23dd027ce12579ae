// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import SpeechService
@testable import Upload

/// libFuzzer calls this with each input, again and again; `scripts/fuzz.sh` builds it.
///
/// The first byte chooses whether the rest is frames of a WebSocket or events of Wyoming, and how it is split:
/// the same messages and the same breach must come of it whole and in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSocket(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let frames = Array(input.dropFirst())
    let isWyoming = first >= 0x80
    let whole = SocketFuzz.read(frames, in: frames.count, isWyoming)
    let parts = SocketFuzz.read(frames, in: 1 + Int(first) % 17, isWyoming)
    precondition(
        whole.events == parts.events && whole.fault == parts.fault, "the pieces changed it")
    return 0
}

enum SocketFuzz {
    static func read(
        _ bytes: [UInt8], in size: Int, _ isWyoming: Bool
    ) -> (events: [SocketEvent], fault: SocketFault?) {
        var framing: any MessageFraming =
            isWyoming ? WyomingFraming() : SocketFraming(SocketMessages())
        var events: [SocketEvent] = []
        var rest = bytes[...]
        do throws(SocketFault) {
            while !rest.isEmpty {
                let piece = Array(rest.prefix(size))
                rest = rest.dropFirst(piece.count)
                framing.take(piece.span)
                while let event = try framing.next() { events.append(event) }
            }
        } catch {
            return (events, error)
        }
        return (events, nil)
    }
}
