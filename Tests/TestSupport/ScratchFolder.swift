// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import LinuxPlatform

/// A new folder under `/tmp` for one test, removed with everything in it when the test is done.
package final class ScratchFolder: Sendable {
    /// The folder's absolute path.
    package let path: String

    /// Creates the folder.
    ///
    /// - Throws: `SystemError` when that is not possible.
    package init() throws {
        var template = Array("/tmp/utter-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
        path = template.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    deinit {
        // A folder that stays under /tmp spoils no test.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of an entry of this folder.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes a whole file.
    ///
    /// - Returns: its path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemError.last("open") }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            done += try bytes.withUnsafeBytes { buffer in
                try retryingInterrupts("write") {
                    Glibc.write(file, buffer.baseAddress?.advanced(by: done), bytes.count - done)
                }
            }
        }
        return path(name)
    }

    /// Reads a whole file.
    package func read(_ name: String) throws -> [UInt8] {
        try Self.read(path: path(name))
    }

    /// Reads a whole file anywhere.
    package static func read(path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError.last("open '\(path)'") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try retryingInterrupts("read") { Glibc.read(file, &buffer, buffer.count) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
