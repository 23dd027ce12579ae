// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import Upload

/// libFuzzer calls this with each input, again and again; `scripts/fuzz.sh` builds it.
///
/// The first byte chooses how the rest, the frames of a server, is split: the same messages and the same
/// breach must come of it whole and in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSocket(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let frames = Array(input.dropFirst())
    let whole = SocketFuzz.read(frames, in: frames.count)
    let parts = SocketFuzz.read(frames, in: 1 + Int(first) % 17)
    precondition(
        whole.events == parts.events && whole.fault == parts.fault, "the pieces changed it")
    return 0
}

enum SocketFuzz {
    static func read(_ bytes: [UInt8], in size: Int) -> (events: [SocketEvent], fault: SocketFault?)
    {
        var (reader, events): (SocketReader, [SocketEvent]) = (SocketReader(), [])
        var rest = bytes[...]
        do throws(SocketFault) {
            while !rest.isEmpty {
                let piece = Array(rest.prefix(size))
                rest = rest.dropFirst(piece.count)
                reader.take(piece.span)
                while let event = try reader.next() { events.append(event) }
            }
        } catch {
            return (events, error)
        }
        return (events, nil)
    }
}
