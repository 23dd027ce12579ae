// SPDX-License-Identifier: Apache-2.0

/// Takes a request apart while it comes: head, then a body that is chunked (RFC 9112 §7.1) or of
/// a stated length.
struct BodyFraming {
    /// Whether the body has come to its end.
    private(set) var isComplete = false
    private var state = State.head
    private var line: [UInt8] = []
    private var isChunked = false
    private var length = 0

    private enum State {
        case head, chunkSize, chunk, chunkEnd, trailer, stated
    }

    /// Takes the next bytes and hands out those of the body.
    ///
    /// - Throws: `BenchmarkError` when the framing is wrong.
    mutating func take(
        _ bytes: ArraySlice<UInt8>, _ onBody: (ArraySlice<UInt8>) -> Void
    ) throws(BenchmarkError) {
        var rest = bytes
        while !rest.isEmpty && !isComplete {
            switch state {
            case .chunk, .stated:
                let piece = rest.prefix(length)
                rest = rest.dropFirst(piece.count)
                length -= piece.count
                if !piece.isEmpty { onBody(piece) }
                guard length == 0 else { break }
                if state == .stated { isComplete = true }
                state = .chunkEnd
            default:
                let byte = rest.removeFirst()
                line.append(byte)
                guard byte == 0x0A else { break }
                try take(line: String(decoding: line.dropLast(2), as: UTF8.self))
                line.removeAll(keepingCapacity: true)
            }
        }
    }

    private mutating func take(line: String) throws(BenchmarkError) {
        switch state {
        case .head where line.isEmpty:
            state = isChunked ? .chunkSize : .stated
            isComplete = !isChunked && length == 0
        case .head:
            let lower = line.lowercased()
            if lower == "transfer-encoding: chunked" { isChunked = true }
            if lower.hasPrefix("content-length: ") { length = Int(lower.dropFirst(16)) ?? 0 }
        case .chunkSize:
            guard let size = Int(line, radix: 16) else {
                throw BenchmarkError("'\(line)' is not the size of a chunk")
            }
            length = size
            state = size > 0 ? .chunk : .trailer
        case .chunkEnd: state = .chunkSize
        case .trailer: isComplete = line.isEmpty
        case .chunk, .stated: break
        }
    }
}
