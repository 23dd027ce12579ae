// SPDX-License-Identifier: Apache-2.0

/// Takes a chunked body apart, strictly as RFC 9112 §7.1 writes it.
///
/// What breaks the rules is noted in the request.
struct ChunkedBodyReader: Sendable {
    private enum Place {
        case size
        case data(left: Int)
        case dataEnd
        case trailer
        case done
        case broken
    }

    /// A size line or trailer field longer than this is an attack or a loss of step.
    private static let longestLine = 4096

    private var place = Place.size
    private var line: [UInt8] = []
    private var chunkSize = 0

    /// Whether the last chunk and its trailers have come.
    var isDone: Bool {
        if case .done = place { return true }
        return false
    }

    /// Takes bytes that came at `time` and adds what they say to `request`.
    ///
    /// - Returns: how many bytes belonged to the body; the rest is the next request.
    mutating func read(
        _ bytes: ArraySlice<UInt8>, at time: MonotonicTime, into request: inout RecordedRequest
    ) -> Int {
        var position = bytes.startIndex
        while position < bytes.endIndex {
            switch place {
            case .done: return position - bytes.startIndex
            case .broken: return bytes.count
            case .data(let left):
                let end = min(bytes.endIndex, position + left)
                request.body += bytes[position..<end]
                let rest = left - (end - position)
                position = end
                place = rest > 0 ? .data(left: rest) : .dataEnd
                if rest == 0 { request.chunks.append(RecordedChunk(byteCount: chunkSize)) }
            case .size, .dataEnd, .trailer:
                line.append(bytes[position])
                position += 1
                takeLine(at: time, into: &request)
            }
        }
        return bytes.count
    }

    /// Looks whether a line is complete and does what it says.
    private mutating func takeLine(at time: MonotonicTime, into request: inout RecordedRequest) {
        guard line.last == UInt8(ascii: "\n") else {
            if line.count > Self.longestLine {
                fail("a line of the chunk framing is too long", &request)
            }
            return
        }
        guard line.count >= 2, line[line.count - 2] == UInt8(ascii: "\r") else {
            return fail("a line of the chunk framing ends with LF alone", &request)
        }
        let text = String(decoding: line.dropLast(2), as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        switch place {
        case .size: takeSize(text, into: &request)
        case .dataEnd:
            guard text.isEmpty else { return fail("no CRLF after the chunk's data", &request) }
            place = .size
        case .trailer:
            guard text.isEmpty else { return }
            request.lastChunkAt = time
            place = .done
        case .data, .done, .broken: break
        }
    }

    private mutating func takeSize(_ text: String, into request: inout RecordedRequest) {
        let digits = text.prefix { $0 != ";" }
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
            let size = Int(digits, radix: 16)
        else { return fail("'\(text)' is not a chunk size", &request) }
        chunkSize = size
        place = size == 0 ? .trailer : .data(left: size)
    }

    private mutating func fail(_ reason: String, _ request: inout RecordedRequest) {
        request.framingErrors.append("\(reason) (after \(request.body.count) bytes of the body)")
        place = .broken
    }
}

extension HeaderField {
    /// Takes a line of a head apart; nil when it has no colon.
    init?(line: String) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let value = parts[1].drop { $0 == " " || $0 == "\t" }
        let end = value.lastIndex { $0 != " " && $0 != "\t" }
        self.init(String(parts[0]), end.map { String(value[...$0]) } ?? "")
    }
}
