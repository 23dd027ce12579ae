// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter

/// A file that holds a secret: the service's token, or the key for the disk.
package enum SecretFile {
    /// Reads the first line of the file that the person has named by an option.
    package static func read(
        _ path: String, option: String = "--token-file"
    ) throws(CommandFailure) -> String {
        try named(option) { () throws(ReadingError) in try OwnFile(path).firstLine() }
    }

    /// Reads the whole file.
    static func bytes(
        of path: String, option: String
    ) throws(CommandFailure) -> [UInt8] {
        try named(option) { () throws(ReadingError) in try OwnFile(path).bytes() }
    }

    static func named<Value>(
        _ option: String, _ read: () throws(ReadingError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(ReadingError) {
            return try read()
        } catch {
            throw CommandFailure(
                "\(option): \(error.description)", hint: Hints.of(error), status: .configuration)
        }
    }

    /// Writes a new file that its owner alone can read, durably.
    package static func make(_ bytes: [UInt8], at path: String) throws(CommandFailure) {
        do throws(SystemError) {
            let number = try retryingInterrupts("open") {
                unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            }
            let file = OwnedDescriptor(taking: number)
            do throws(SystemError) {
                // The umask can only have taken permissions away, our own among them.
                try retryingInterrupts("chmod") { fchmod(number, 0o600) }
                try writeAll(bytes.span, to: file.number, at: 0)
                try retryingInterrupts("fsync") { fsync(file.number) }
            } catch {
                // A part of a key opens nothing.
                _ = unsafe unlink(path)
                throw error
            }
        } catch {
            guard error.code != EEXIST else {
                throw CommandFailure(
                    "'\(path)' exists already", hint: "choose another name", status: .localIO)
            }
            throw CommandFailure.cannotWrite(path, error)
        }
    }
}
