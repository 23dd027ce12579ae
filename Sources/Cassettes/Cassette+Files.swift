// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

extension Cassette {
    /// More than any answer that is read, in base64, with its times.
    private static let byteLimit = 64 << 20

    /// Reads a file, or all `.json` files of a folder, sorted by name; blocks on the disk.
    package static func load(_ path: String) throws(CassetteError) -> [Cassette] {
        guard let names = try names(in: path) else { return [try read(path)] }
        guard !names.isEmpty else { throw .none(path: path) }
        return try names.map { name throws(CassetteError) in try read("\(path)/\(name)") }
    }

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
            bytes = try readFile(path, limit: byteLimit)
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
    case unreadable(reason: String)
    case otherVersion(Int)
    case file(path: String, SystemError)
    case inFile(path: String, reason: String)
    case none(path: String)

    package var description: String {
        switch self {
        case .unreadable(let reason): reason
        case .otherVersion(let version):
            "its version is \(version), and this program reads version \(Cassette.version)"
        case .file(let path, let error): "'\(path)' cannot be read: \(error.reason)"
        case .inFile(let path, let reason): "'\(path)' is not a cassette: \(reason)"
        case .none(let path): "'\(path)' does not contain cassettes"
        }
    }

    /// The decoder's words, with the place in the document.
    static func words(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it is not JSON" }
        let (what, context): (String, DecodingError.Context) =
            switch error {
            case .keyNotFound(let key, let context): ("'\(key.stringValue)' is missing", context)
            case .typeMismatch(let type, let context): ("it is not of the type \(type)", context)
            case .valueNotFound(_, let context): ("it is null", context)
            case .dataCorrupted(let context): ("it is not JSON", context)
            @unknown default: ("it is not understood", .init(codingPath: [], debugDescription: ""))
            }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return place.isEmpty ? what : "\(place.joined(separator: ".")): \(what)"
    }
}
