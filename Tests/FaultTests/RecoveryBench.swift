// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport

@testable import LinuxPlatform

/// What a power cut has left, on a disk that is quick.
final class RecoveryBench {
    final class Folder {
        let path: String
        init(_ path: String) { self.path = path }
        func read(_ name: String) throws -> [UInt8] { try readFile(path + "/" + name) }
    }

    let root: String
    var stateFolder: String { root + "/.local/state/utter" }
    var folder: Folder { Folder(stateFolder) }

    /// Makes the entries in a new folder in `disk`.
    init(_ entries: [String: [UInt8]?], in disk: String) throws {
        var template = Array("\(disk)/utter-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
        root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        for (path, bytes) in entries.sorted(by: { $0.key < $1.key }) {
            let place = root + "/" + path
            guard let bytes else {
                guard mkdir(place, 0o700) == 0 else { throw SystemError.last("mkdir") }
                continue
            }
            let number = try retryingInterrupts("open") {
                open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            }
            let file = OwnedDescriptor(taking: number)
            try writeAll(bytes.span, to: file.number, at: 0)
        }
    }

    deinit {
        // A folder that stays spoils no test.
        try? FileManager.default.removeItem(atPath: root)
    }

    func snapshot() throws -> [String: [UInt8]?] {
        var all: [String: [UInt8]?] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var status = stat()
            let isFolder =
                lstat(root + "/" + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            all[name] = .some(isFolder ? nil : try readFile(root + "/" + name))
        }
        return all
    }
}
