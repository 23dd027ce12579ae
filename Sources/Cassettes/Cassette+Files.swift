// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

extension Cassette {
    /// More than any answer that is read, in base64, with its times.
    private static let byteLimit = 64 << 20

    /// Reads a file, or all files of a folder that end in `.json`, in the order of their names.
    ///
    /// Blocks on the disk.
    ///
    /// - Throws: `CassetteError`, which names the file.
    package static func load(_ path: String) throws(CassetteError) -> [Cassette] {
        guard let names = try names(in: path) else { return [try read(path)] }
        guard !names.isEmpty else { throw .none(path: path) }
        return try names.map { name throws(CassetteError) in try read("\(path)/\(name)") }
    }

    /// The names of the files of a folder in their order; nil when it is a file.
    private static func names(in path: String) throws(CassetteError) -> [String]? {
        guard let folder = unsafe opendir(path) else {
            guard errno == ENOTDIR else { throw .file(path: path, .last("opendir")) }
            return nil
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".json"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func read(_ path: String) throws(CassetteError) -> Cassette {
        let bytes: [UInt8]
        do throws(SystemError) {
            let number = try retryingInterrupts("open") {
                unsafe open(path, O_RDONLY | O_CLOEXEC)
            }
            let file = OwnedDescriptor(taking: number)
            bytes = try readAll(file.number, limit: byteLimit)
        } catch {
            throw .file(path: path, error)
        }
        do throws(CassetteError) {
            return try Cassette(bytes)
        } catch {
            throw .inFile(path: path, reason: error.description)
        }
    }
}
