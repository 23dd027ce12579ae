// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

@testable internal import TakeStore

/// A folder of the test's own, removed with all that is in it when its last reference goes.
package final class TemporaryFolder: Sendable {
    /// The folder's absolute path, without a slash at the end and without symbolic links.
    package let path: String

    /// Makes a new, empty folder with mode 0700 in `root`, by default the place for temporary files.
    package init(in root: String? = nil) throws(SystemError) {
        let root = root ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(root)/utter-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
        let made = template.dropLast().map(UInt8.init(bitPattern:))
        path = String(decoding: made, as: UTF8.self)
    }

    deinit {
        // A recorder in the background, which is just ending, may make a file meanwhile.
        for _ in 0..<100 {
            removeTree(Array(path.utf8CString))
            if access(path, F_OK) != 0 { break }
            poll(nil, 0, 20)
        }
        removeRings()
    }

    /// Programs that were killed have left the sound of their takes in memory.
    private func removeRings() {
        let spools = ["state", "state/utter", "home/.local/state/utter"].map(path)
        for folder in RingFolder.usualPaths.map({ $0 + "/rings" }) {
            // A folder that is missing has none.
            guard let names = try? Folder.names(at: folder), !names.isEmpty else { continue }
            for digest in spools.map({ RingFolder(ofSpool: $0).digest }) {
                for name in names where name.hasPrefix(digest) { unlink(folder + "/" + name) }
            }
        }
    }

    private static let kept = Mutex<[TemporaryFolder]>([])

    /// Makes a folder that the end of the process removes: for what all tests share, or a program writes
    /// that may outlive its test.
    package static func forProcess() throws(SystemError) -> TemporaryFolder {
        let folder = try TemporaryFolder()
        kept.withLock { folders in
            if folders.isEmpty {
                atexit {
                    TemporaryFolder.kept.withLock {
                        $0.forEach {
                            removeTree(Array($0.path.utf8CString))
                            $0.removeRings()
                        }
                    }
                }
            }
            folders.append(folder)
        }
        return folder
    }

    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file, replacing what was there, and returns its path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws(SystemError) -> String {
        let file = path(name)
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let number = try retryingInterrupts("open") { open(file, flags, 0o600) }
        let descriptor = OwnedDescriptor(taking: number)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try retryingInterrupts("write") {
                rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
        return file
    }

    /// Writes a program, such as a script, which can be run at once, and returns its path.
    ///
    /// Another process writes it. The kernel runs no file that is open for writing (`ETXTBSY`), and a
    /// program that another test starts has copies of our descriptors between its fork and its exec.
    @discardableResult
    package func writeProgram(_ text: String, to name: String) throws -> String {
        try ForeignTool("install").run(
            ["-m", "700", "/dev/stdin", path(name)], input: Array(text.utf8))
        return path(name)
    }

    package func read(_ name: String) throws(SystemError) -> [UInt8] {
        try readFile(path(name))
    }

    /// The names of what is in a folder, without "." and "..", sorted.
    package func names(in name: String = ".") throws(SystemError) -> [String] {
        try Folder.names(at: path(name))
    }
}

package func readFile(_ path: String) throws(SystemError) -> [UInt8] {
    try LinuxPlatform.readFile(path, limit: .max - 1)
}

/// The names in a folder, without "." and "..", which need not be UTF-8.
private func folderEntries(_ path: [CChar]) throws(SystemError) -> [[CChar]] {
    guard let folder = opendir(path) else { throw SystemError.last("opendir") }
    defer { closedir(folder) }
    var names: [[CChar]] = []
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
            }
        }
        if strcmp(name, ".") != 0, strcmp(name, "..") != 0 { names.append(name) }
    }
    return names
}

private func removeTree(_ path: [CChar]) {
    // The system's own cleaning of its temporary folder gets the rest.
    for name in (try? folderEntries(path)) ?? [] {
        let child = path.dropLast() + [CChar(bitPattern: UInt8(ascii: "/"))] + name
        var status = stat()
        if lstat(child, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            chmod(child, 0o700)
            removeTree(child)
        } else {
            unlink(child)
        }
    }
    rmdir(path)
}
