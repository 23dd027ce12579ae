// SPDX-License-Identifier: Apache-2.0

// URLs, tokens and connections are named by a program that imports this module.
@_exported public import SpeechService

/// A file, or a playlist of HTTP Live Streaming (RFC 8216), that is to be fetched from a URL.
public struct Download: Sendable {
    /// As the person names it: each request begins here, so that what it leads to may expire.
    public var url: ServiceURL
    /// Opens the origin of the URL, and is sent to no other.
    ///
    /// A secret that is not known yet is asked for before the first request.
    public var credential: Credential?
    /// Whether what is there is loaded again even if it has not changed.
    public var isFresh = false
    /// The most of a playlist, in time of sound; nil: all, and of a live one until it ends.
    public var longest: Duration?
    /// Where the file goes once it is whole: an absolute path, where nothing may be.
    ///
    /// A playlist gets a folder of this name. Nil leaves it in the folder of its download.
    public var destination: String?
    /// The SHA-256 that the file must have, as 64 lower-case digits; nil takes any.
    ///
    /// A file with another one is removed, and the next call begins anew. A copy that is there and
    /// has it is not asked for again. It is not remembered.
    public var sha256: String?
    /// Origins of this machine or the network around it that may be connected to.
    ///
    /// The URL's own is one if it is an address, or a name that means nothing in the internet, such as
    /// `localhost`.
    public var ownOrigins: Set<Origin> = []
    /// How connections are made.
    ///
    /// Through a proxy that is named here all is fetched, whatever its exceptions.
    public var connection = ConnectionSettings()

    /// Names what is to be fetched.
    public init(_ url: ServiceURL) { self.url = url }
}

/// The room that downloads may take on the disk.
public struct DownloadLimits: Sendable, Equatable {
    /// The most bytes of all of them.
    public var bytes: Int
    /// The bytes of the file system that stay free.
    public var free: Int

    /// Creates limits.
    public init(bytes: Int, free: Int) { (self.bytes, self.free) = (bytes, free) }

    /// 4 GiB, and 64 MiB free.
    public static let standard = DownloadLimits(bytes: 4 << 30, free: 64 << 20)
}

/// A file that has been fetched, whole.
public struct FetchedFile: Sendable, Equatable {
    /// The name of its download: 16 letters and digits, the same for the same URL.
    public var id: String
    /// An absolute path: of the file, or of a playlist that names files beside it.
    public var path: String
    /// Bytes of the file, or of all segments.
    public var byteCount: Int
    /// Whether it is a playlist.
    public var isPlaylist: Bool
    /// Whether it was there already, and has not changed since.
    public var isUnchanged: Bool
    /// Remarks for a person, each in one line.
    public var notices: [String]
}

/// How far a download has come.
public struct DownloadProgress: Sendable, Equatable {
    /// The name of the download.
    public var id: String
    /// Bytes that are on the disk.
    public var byteCount: Int
    /// Bytes of the whole file; nil while they are not known, and for a playlist.
    public var total: Int?
    /// Segments of a playlist that are there; nil of a file.
    public var segmentCount: Int?
    /// Bytes a second, since this run began.
    public var rate: Int

    /// How long the rest takes at this rate; nil when that is not known.
    public var left: Duration? {
        guard let total, rate > 0 else { return nil }
        return .seconds(Double(max(0, total - byteCount)) / Double(rate))
    }
}

/// A download on the disk.
public struct KeptDownload: Sendable, Equatable {
    /// The state of a download.
    public enum State: String, Sendable {
        /// It goes on with the next flush.
        case waiting
        /// The person has asked for a pause.
        case paused
        /// Another process, or another task, fetches it now.
        case running
        /// It is whole.
        case done
        /// It goes on only when it is asked for.
        case failed
    }

    /// Its name.
    public var id: String
    /// Without its query, in which there may be secrets; empty where its note cannot be read.
    public var url: String
    /// The download's state.
    public var state: State
    /// Bytes that are on the disk, of the file or of all segments.
    public var byteCount: Int
    /// Bytes of the whole file; nil where they are not known.
    public var total: Int?
    /// Why it is not whole, in one line; nil when nothing has failed.
    public var reason: String?
    /// Where it is; nil until it is whole.
    public var path: String?
}

/// Why a download is not whole; what came of it is kept, unless the disk has refused it.
public enum DownloadFailure: Error, Sendable, Equatable {
    /// The calling task was cancelled, or the downloads were shut down.
    case left
    case paused
    /// Another process fetches it.
    case running
    /// The text is libcurl's, or says what broke.
    case unreachable(String)
    /// The server answers so now.
    case busy(status: Int)
    case refused(status: Int)
    /// The server's answer, or its playlist, cannot be used; the text says why.
    case unusable(String)
    /// The URL leads to an address of this machine or the network around it.
    case ownNetwork(host: String, address: String)
    /// The token cannot be read, or would travel in the clear.
    case token(String)
    /// A limit of the disk was reached.
    case noRoom(String)
    /// The disk has refused something.
    case disk(String)
    /// There is no such download.
    case unknown(String)

    /// Whether it fails again until something about it is changed.
    public var isLasting: Bool {
        switch self {
        case .refused, .unusable, .ownNetwork, .token, .unknown: true
        case .left, .paused, .running, .unreachable, .busy, .noRoom, .disk: false
        }
    }
}

extension DownloadFailure: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .left: "the download was left; what came is kept"
        case .paused: "the download is paused"
        case .running: "it is being fetched"
        case .unreachable(let reason): "the download broke off: \(reason)"
        case .busy(let status): "the server cannot send it now: it answers \(status)"
        case .refused(let status): "the server refuses it: it answers \(status)"
        case .unusable(let reason): "it cannot be fetched: \(reason)"
        case .ownNetwork(let host, let address):
            "\(host) is at \(address), in the own network, and was not typed as an address there"
        case .token(let reason): "its token cannot be sent: \(reason)"
        case .noRoom(let reason): "there is no room for it: \(reason)"
        case .disk(let reason): "the disk refuses it: \(reason)"
        case .unknown(let name): "there is no download '\(name)'"
        }
    }
}
