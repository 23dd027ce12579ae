// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file of raw signed 16-bit samples that goes with its test.
package final class TemporaryAudio: Sendable {
    package let path: String

    package init(_ samples: [Int16]) throws {
        var template = Array("/tmp/utter-audio-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(file) }
        let written = samples.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard written == samples.count * 2 else { throw TemporaryAudioError() }
    }

    deinit { unlink(path) }
}

package struct TemporaryAudioError: Error {}
