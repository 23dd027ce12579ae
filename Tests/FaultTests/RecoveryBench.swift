// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport

@testable import LinuxPlatform

/// What a power cut has left, on a disk that is quick.
final class RecoveryBench {
    private let folder: TemporaryFolder
    var root: String { folder.path }
    var stateFolder: String { root + "/.local/state/utter" }

    /// Makes the entries in a new folder in `disk`.
    init(_ entries: [String: [UInt8]?], in disk: String) throws {
        folder = try TemporaryFolder(in: disk)
        try fill(root, with: entries)
    }
}

/// Everything below a folder: files with their bytes, folders with nil.
func contents(of root: String) throws -> [String: [UInt8]?] {
    var all: [String: [UInt8]?] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
        var status = stat()
        guard lstat(root + "/" + name, &status) == 0 else { continue }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        all[name] = .some(isFolder ? nil : try readFile(root + "/" + name))
    }
    return all
}

/// Makes the same in an empty folder.
func fill(_ root: String, with entries: [String: [UInt8]?]) throws {
    for (path, bytes) in entries.sorted(by: { $0.key < $1.key }) {
        let place = root + "/" + path
        guard let bytes else {
            guard mkdir(place, 0o700) == 0 else { throw SystemError.last("mkdir") }
            continue
        }
        let file = try OwnedDescriptor(of: "open") {
            open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        }
        try writeAll(bytes.span, to: file.number, at: 0)
    }
}
