// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import LinuxPlatform
internal import SpeechService

/// The note of a download, in `fetch.json` in its folder.
///
/// It is read by the person alone, since a URL may hold secrets. Beside it are `body.part`, the first
/// bytes of a file; of a playlist `index.part`, which has a line for each segment that is there; and
/// `paused` while the person wants that.
struct DownloadNote: Codable {
    static let version = 1
    var version = Self.version
    var url: String
    var destination: String?
    var tokenFile: String?
    /// In seconds.
    var longest: Double?
    var ownOrigins: [String]
    var tag: String?
    var total: Int?
    /// Bytes of `body.part` that the disk has for sure, and the boot of the machine since which it has
    /// all that is there.
    var synced = 0
    var boot = ""
    /// The file, once it is whole, and what it was then.
    var path: String?
    var byteCount: Int?
    var isPlaylist = false
    var notices: [String]?
    var reason: String?
    var isLasting = false

    init(_ download: Download) {
        url = download.url.text
        ownOrigins = download.ownOrigins.map(\.description)
        adopt(download)
    }

    /// Takes what the person wants now.
    mutating func adopt(_ download: Download) {
        destination = download.destination
        longest = download.longest.map { $0 / .seconds(1) } ?? longest
        if case .file(let path)? = download.credential?.source { tokenFile = path }
        ownOrigins = Set(ownOrigins + download.ownOrigins.map(\.description)).sorted()
    }

    /// The download that a later run goes on with, without being told more than the folder.
    func download() throws(DownloadFailure) -> Download {
        do throws(ServiceError) {
            var download = Download(try ServiceURL(url))
            download.destination = destination
            download.credential = tokenFile.map { Credential(askedOf: .file($0)) }
            download.ownOrigins = Set(
                try ownOrigins.map { text throws(ServiceError) in try Origin(text) })
            return download
        } catch {
            throw .unusable(error.description)
        }
    }
}

/// The folder of one download; calls block on the disk.
struct DownloadFolder: Sendable {
    static let noteName = "fetch.json"
    static let partName = "body.part"
    static let pauseName = "paused"

    let id: String
    let folder: Folder

    /// The same for the same URL, in every run.
    static func id(of url: ServiceURL) -> String {
        String(SHA256.hexadecimal(of: url.text).prefix(16))
    }

    init(_ id: String, in parent: Folder, makes: Bool = false) throws(SystemError) {
        self.id = id
        folder = makes ? try parent.makeFolder(id) : try parent.openFolder(id)
    }

    /// The note; nil when there is none yet, an error when it is damaged or of another version.
    func note() throws(DownloadFailure) -> DownloadNote? {
        guard folder.size(of: Self.noteName) != nil else { return nil }
        let bytes = try onDisk { () throws(SystemError) in
            try folder.contents(of: Self.noteName, limit: 1 << 20)
        }
        // It is told which.
        let note = try? JSONDecoder().decode(DownloadNote.self, from: Data(bytes))
        guard let note, note.version == DownloadNote.version else {
            throw .disk(
                "\(folder.path)/\(Self.noteName) is damaged, or of another version of utter; "
                    + "remove the download \(id) to fetch it anew")
        }
        return note
    }

    func save(_ note: DownloadNote) throws(DownloadFailure) {
        // Strings and numbers can be encoded.
        let data = (try? JSONEncoder().encode(note)) ?? Data()
        try onDisk { () throws(SystemError) in
            try folder.replaceFile(Self.noteName, with: Array(data))
        }
    }

    var isPaused: Bool { folder.size(of: Self.pauseName) != nil }

    /// The part of the file that is there, and can be gone on with.
    func part(by note: DownloadNote) -> FilePart {
        let size = folder.size(of: Self.partName) ?? 0
        // Since then the memory of the machine has what the disk may not have.
        let isSameBoot = note.boot == Folder.bootName && !note.boot.isEmpty
        let count = isSameBoot ? size : min(size, note.synced)
        return FilePart(byteCount: count, total: note.total, tag: note.tag)
    }

    func entries() -> [LocalPlaylist.Entry] {
        // Without the file there are none.
        let bytes = (try? folder.contents(of: LocalPlaylist.partName, limit: 64 << 20)) ?? []
        return LocalPlaylist.entries(in: String(decoding: bytes, as: UTF8.self))
    }

    /// Removes what a process that was killed has left of segments.
    func removeLeftovers() {
        // The rest would take room, and nothing else, here and below.
        for name in (try? folder.names()) ?? []
        where name.hasSuffix(".part") && ![Self.partName, LocalPlaylist.partName].contains(name) {
            try? folder.removeFile(name)  // It only takes room.
        }
    }

    /// Bytes of all files but the notes.
    var byteCount: Int {
        // A folder that cannot be listed holds nothing, as far as can be said.
        let names = (try? folder.names()) ?? []
        return names.filter { $0 != Self.noteName }.reduce(0) { $0 + (folder.size(of: $1) ?? 0) }
    }

    func clear() throws(DownloadFailure) {
        try onDisk { () throws(SystemError) in
            for name in try folder.names() where ![Self.noteName, Self.pauseName].contains(name) {
                try folder.removeFile(name)
            }
        }
    }
}

/// Makes an error of the disk one of the download.
func onDisk<Value: ~Copyable>(
    _ body: () throws(SystemError) -> Value
) throws(DownloadFailure) -> Value {
    do throws(SystemError) {
        return try body()
    } catch {
        throw .disk(error.description)
    }
}

/// The end of a file's name, which no server chooses: a word of a short list; or the name, which the
/// typed URL chooses.
enum FileSuffix {
    private static let types = [
        "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/x-m4a": "m4a", "audio/aac": "aac",
        "audio/ogg": "ogg", "audio/opus": "opus", "audio/flac": "flac", "audio/x-flac": "flac",
        "audio/wav": "wav", "audio/x-wav": "wav", "audio/vnd.wave": "wav", "audio/webm": "webm",
        "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov",
        "video/x-matroska": "mkv", "video/mp2t": "ts", "application/ogg": "ogg",
    ]
    private static let known = Set(types.values).union(["m4s", "m4b", "oga", "mka", "ac3"])

    static func of(_ url: ServiceURL, type: String? = nil, or standard: String = "bin") -> String {
        if let word = word(type), let suffix = types[word] { return suffix }
        return suffix(of: url).flatMap { known.contains($0) ? $0 : nil } ?? standard
    }

    static func isPlaylist(_ url: ServiceURL, type: String?) -> Bool {
        word(type)?.hasSuffix("mpegurl") ?? false || suffix(of: url) == "m3u8"
    }

    static func isWebPage(_ type: String?) -> Bool { word(type) == "text/html" }

    static func isPlainText(_ type: String?) -> Bool { word(type) == "text/plain" }

    /// Whether this is the type of a text other than plain text, as which some servers send sound.
    static func isText(_ type: String?) -> Bool {
        guard let word = word(type), word != "text/plain" else { return false }
        return word.hasPrefix("text/") || ["json", "xml"].contains { word.hasSuffix($0) }
    }

    /// The bytes are a file's own that is compressed.
    static func isCompressed(_ url: ServiceURL) -> Bool {
        suffix(of: url).map { ["gz", "tgz"].contains($0) } ?? false
    }

    /// The last part of the URL's path, harmless as a name and of less than 240 bytes, in two pieces; nil
    /// where nothing is left of it.
    static func name(of url: ServiceURL) -> (stem: String, end: String)? {
        let part = url.target.prefix { $0 != "?" }.split(separator: "/").last ?? ""
        let scalars = TerminalText.sanitized(decoded(part)).unicodeScalars.filter {
            !["/", "\n", "\t"].contains($0) && !$0.properties.isDefaultIgnorableCodePoint
        }
        let name = String(String.UnicodeScalarView(scalars)).drop { ".- ".contains($0) }
        let dot = name.lastIndex(of: ".").flatMap { name[$0...].utf8.count < 20 ? $0 : nil }
        var stem = name[..<(dot ?? name.endIndex)]
        while stem.utf8.count > 200 { stem.removeLast() }
        return stem.isEmpty ? nil : (String(stem), String(name[(dot ?? name.endIndex)...]))
    }

    /// Without percent-encoding (RFC 3986 §2.1), once.
    private static func decoded(_ text: Substring) -> String {
        var pieces = text.split(separator: "%", omittingEmptySubsequences: false)[...]
        var bytes = Array((pieces.popFirst() ?? "").utf8)
        for piece in pieces {
            let byte =
                piece.prefix(2).allSatisfy(\.isHexDigit) && piece.utf8.count > 1
                ? UInt8(piece.prefix(2), radix: 16) : nil
            bytes += byte.map { [$0] + piece.dropFirst(2).utf8 } ?? Array("%\(piece)".utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func word(_ type: String?) -> String? {
        type?.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    }

    private static func suffix(of url: ServiceURL) -> String? {
        let path = url.target.prefix { $0 != "?" }
        return path.split(separator: "/").last?.split(separator: ".").last?.lowercased()
    }
}
