// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

extension Cassette {
    /// More than any answer that is read, in base64, with its times.
    private static let byteLimit = 64 << 20

    /// Reads a file, or all files of a folder that end in `.json`, in the order of their names.
    ///
    /// Blocks on the disk.
    package static func load(_ path: String) throws(CassetteError) -> [Cassette] {
        guard let names = try names(in: path) else { return [try read(path)] }
        guard !names.isEmpty else { throw .none(path: path) }
        return try names.map { name throws(CassetteError) in try read("\(path)/\(name)") }
    }

    /// The names of the files of a folder in their order; nil when it is a file.
    private static func names(in path: String) throws(CassetteError) -> [String]? {
        do throws(SystemError) {
            return try Folder.names(at: path).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
        } catch {
            guard error.code == ENOTDIR else { throw .file(path: path, error) }
            return nil
        }
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

package enum CassetteError: Error, Sendable, Equatable {
    /// It cannot be understood; the text says what of it.
    case unreadable(reason: String)
    /// It has this version, which is not ours.
    case otherVersion(Int)
    /// The file or folder cannot be read.
    case file(path: String, SystemError)
    /// The file holds no cassette.
    case inFile(path: String, reason: String)
    /// There is no cassette in the folder.
    case none(path: String)

    package var description: String {
        switch self {
        case .unreadable(let reason): reason
        case .otherVersion(let version):
            "its version is \(version), and this program reads version \(Cassette.version)"
        case .file(let path, let error): "'\(path)' cannot be read: \(error.reason)"
        case .inFile(let path, let reason): "'\(path)' is no cassette: \(reason)"
        case .none(let path): "'\(path)' holds no cassettes"
        }
    }

    /// What a decoder complains of, with the place in the document.
    static func words(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it is not JSON" }
        let (what, context): (String, DecodingError.Context) =
            switch error {
            case .keyNotFound(let key, let context): ("'\(key.stringValue)' is missing", context)
            case .typeMismatch(let type, let context): ("it is no \(type)", context)
            case .valueNotFound(_, let context): ("it is null", context)
            case .dataCorrupted(let context): ("it is not JSON", context)
            @unknown default:
                (
                    "it is not understood",
                    DecodingError.Context(codingPath: [], debugDescription: "")
                )
            }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return place.isEmpty ? what : "\(place.joined(separator: ".")): \(what)"
    }
}
