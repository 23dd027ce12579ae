// SPDX-License-Identifier: Apache-2.0

/// An answer of several parts (RFC 2046 §5.1), each read by its own type as soon as it comes.
///
/// Parts that are sound or images are skipped. A part without a text is no failure when another has
/// one.
struct MultipartAnswer: ResponseDecoder {
    private enum State {
        /// Before the first boundary.
        case preamble
        /// Behind a boundary: the last one, or the end of its line.
        case boundary
        case head
        case bodyStart
        case body
        case epilogue
    }

    /// A longer head of a part is an attack.
    private static let headLimit = 16 << 10

    private let rule: AnswerRule
    private let limit: Int
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// What has come and is not yet understood; a line end stands in front of the first.
    private var buffer: [UInt8] = [0x0D, 0x0A]
    private var byteCount = 0
    /// What reads the part at hand; nil for one that is skipped.
    private var part: (any ResponseDecoder)?
    private var hasFinal = false
    private var textless: AnswerError?
    private var failure: AnswerError?
    private(set) var hasHeardEnd = false

    init(_ rule: AnswerRule, mediaType: MediaType, limit: Int) {
        self.rule = rule
        self.limit = limit
        delimiter = Array("\r\n--\(mediaType.boundary ?? "")".utf8)
        if mediaType.boundary == nil {
            let shown = TerminalText.cut(TerminalText.sanitized(mediaType.essence))
            failure = .unsupportedMediaType(shown)
        }
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        var hypotheses: [Hypothesis] = []
        do throws(AnswerError) {
            let room = limit - byteCount
            buffer.append(bytes.extracting(first: min(bytes.count, room)))
            byteCount += bytes.count
            try read(into: &hypotheses)
            guard bytes.count <= room else { throw AnswerError.tooLarge(limit: limit) }
        } catch {
            failure = error
            (buffer, part) = ([], nil)
            if hypotheses.isEmpty { throw error }
        }
        return hypotheses
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        do throws(AnswerError) {
            guard byteCount > 0 else { throw .empty }
            guard case .epilogue = state else {
                // What was wrong with the part is told by the next call, and that is this one.
                try throwFailureOfPart()
                throw .truncated(byteCount: byteCount)
            }
            guard hasFinal else { throw textless ?? .empty }
            return []
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func read(into hypotheses: inout [Hypothesis]) throws(AnswerError) {
        var start = 0
        defer { buffer.removeFirst(min(start, buffer.count)) }
        while true {
            switch state {
            case .preamble:
                guard let found = find(delimiter, from: start) else {
                    start = max(start, buffer.count - delimiter.count + 1)
                    return
                }
                start = found + delimiter.count
                state = .boundary
            case .boundary:
                guard buffer.count - start >= 2 else { return }
                if buffer[start] == UInt8(ascii: "-"), buffer[start + 1] == UInt8(ascii: "-") {
                    state = .epilogue
                    continue
                }
                guard let end = find([0x0D, 0x0A], from: start) else {
                    return try checkHead(from: start)
                }
                // The line end stays: it may begin the empty line behind a head of no fields.
                start = end
                state = .head
            case .head:
                guard let end = find([0x0D, 0x0A, 0x0D, 0x0A], from: start) else {
                    return try checkHead(from: start)
                }
                begin(head: buffer[start..<end])
                // The second line end stays: of an empty part it may belong to the boundary.
                start = end + 2
                state = .bodyStart
            case .bodyStart:
                let rest = buffer[start...].prefix(delimiter.count)
                if rest.count < delimiter.count, delimiter.starts(with: rest) { return }
                if !rest.elementsEqual(delimiter) { start += 2 }
                state = .body
            case .body:
                let found = find(delimiter, from: start)
                let end = found ?? max(start, buffer.count - delimiter.count + 1)
                try feed(start..<end, into: &hypotheses)
                start = end
                guard let found else { return }
                try endPart(into: &hypotheses)
                start = found + delimiter.count
                state = .boundary
            case .epilogue:
                start = buffer.count
                return
            }
        }
    }

    private func find(_ wanted: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + wanted.count <= buffer.count {
            if buffer[index] == wanted[0], buffer[index...].starts(with: wanted) { return index }
            index += 1
        }
        return nil
    }

    private func checkHead(from start: Int) throws(AnswerError) {
        guard buffer.count - start <= Self.headLimit else {
            throw .tooLarge(limit: Self.headLimit)
        }
    }

    private mutating func begin(head: ArraySlice<UInt8>) {
        var type: String?
        for line in head.split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard String(decoding: name, as: UTF8.self).lowercased() == "content-type" else {
                continue
            }
            type = String(decoding: line.dropFirst(name.count + 1), as: UTF8.self)
        }
        let mediaType = MediaType(type)
        // Parts in parts are not read: they could nest without end.
        part =
            mediaType.isBinary
            ? nil : AutomaticAnswer(rule, mediaType: mediaType, limit: limit)
    }

    private mutating func feed(
        _ range: Range<Int>, into hypotheses: inout [Hypothesis]
    ) throws(AnswerError) {
        guard part != nil, !range.isEmpty else { return }
        let bytes = Array(buffer[range])
        do throws(AnswerError) {
            note(try part?.accumulate(bytes.span) ?? [], &hypotheses)
        } catch {
            try giveUp(error)
        }
    }

    private mutating func endPart(into hypotheses: inout [Hypothesis]) throws(AnswerError) {
        defer { part = nil }
        do throws(AnswerError) {
            note(try part?.finish() ?? [], &hypotheses)
        } catch {
            try giveUp(error)
        }
    }

    private mutating func throwFailureOfPart() throws(AnswerError) {
        let nothing: [UInt8] = []
        do throws(AnswerError) {
            _ = try part?.accumulate(nothing.span)
        } catch {
            try giveUp(error)
        }
    }

    private mutating func note(_ news: [Hypothesis], _ hypotheses: inout [Hypothesis]) {
        hypotheses += news
        hasFinal = hasFinal || news.contains(where: \.isFinal)
        hasHeardEnd = hasHeardEnd || part?.hasHeardEnd == true
    }

    /// Passes over a part that has no text; throws when the answer itself is bad.
    private mutating func giveUp(_ error: AnswerError) throws(AnswerError) {
        switch error {
        case .empty, .missingText, .webPage, .unsupportedMediaType, .notText:
            textless = textless ?? error
            part = nil
        default: throw error
        }
    }
}
