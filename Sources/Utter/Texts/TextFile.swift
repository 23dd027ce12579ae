// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A file with a text for another program, which this user alone may read; it goes with this value.
package final class TextFile {
    package let path: String

    /// Makes the file, and removes those of processes that were killed.
    package init(
        _ bytes: [UInt8], named name: String, in folder: String
    ) throws(SystemError) {
        let prefix = "utter-\(name)-"
        let folder = try Folder.open(at: folder)
        // A folder that cannot be listed is not tidied.
        for old in (try? folder.names()) ?? [] where old.hasPrefix(prefix) {
            let owner = Int32(old.dropFirst(prefix.count).prefix(while: \.isNumber))
            guard let owner, kill(owner, 0) != 0, errno == ESRCH else { continue }
            // Another process may have removed it.
            try? folder.removeFile(old)
        }
        path = "\(folder.path)/\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max)).txt"
        let file = try OwnedDescriptor(of: "open") { [path] in
            unsafe open(path.cPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        try writeAll(bytes.span, to: file.number, at: 0)
    }

    deinit { _ = unsafe unlink(path.cPath) }
}
