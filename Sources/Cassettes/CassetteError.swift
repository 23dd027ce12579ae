// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// Why a cassette cannot be used.
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
