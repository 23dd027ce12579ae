// SPDX-License-Identifier: Apache-2.0

/// A body that is read whole before it means anything.
struct BoundedBody: Sendable {
    private(set) var bytes: [UInt8] = []
    private let limit: Int

    /// Creates an empty body of at most `limit` bytes.
    init(limit: Int) {
        self.limit = limit
    }

    /// Takes the next bytes.
    ///
    /// - Throws: `AnswerError.tooLarge`; what had come is let go.
    mutating func append(_ more: Span<UInt8>) throws(AnswerError) {
        guard more.count <= limit - bytes.count else {
            bytes = []
            throw .tooLarge(limit: limit)
        }
        for index in more.indices { bytes.append(more[index]) }
    }
}
