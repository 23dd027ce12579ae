// SPDX-License-Identifier: Apache-2.0

struct BoundedBody: Sendable {
    private(set) var bytes: [UInt8] = []
    private let limit: Int

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
        bytes.append(more)
    }
}

extension [UInt8] {
    /// Appends bytes that belong to another.
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
