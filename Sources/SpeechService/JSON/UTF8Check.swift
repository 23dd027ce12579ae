// SPDX-License-Identifier: Apache-2.0

/// Where bytes stop being UTF-8.
enum UTF8Check {
    /// The first byte that is not part of well-formed UTF-8, counted from the start of `bytes`;
    /// nil when all of them are (RFC 3629 §4).
    static func firstInvalidOffset(in bytes: some Sequence<UInt8>) -> Int? {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .emptyInput: return nil
            case .error: return offset
            }
        }
    }
}
