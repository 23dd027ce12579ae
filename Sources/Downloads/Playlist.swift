// SPDX-License-Identifier: Apache-2.0

/// A playlist of HTTP Live Streaming (RFC 8216, and what later drafts add).
///
/// It has the variants of a recording or the segments of one. Tags that are not known are left out.
enum Playlist: Sendable, Equatable {
    /// References to playlists, of which the one is to be taken that has a voice and least else.
    case variants([Variant], variables: [String: String])
    case media(MediaPlaylist)

    /// The most bytes of a text.
    static let byteLimit = 4 << 20
    /// The most segments of a playlist, and of a recording: a day of 2 s each.
    static let segmentLimit = 50_000

    struct Variant: Sendable, Equatable {
        var reference: String
        var bandwidth = 0
        /// Whether no list of codecs says that there is no sound in it.
        var hasSound = true
        /// The group of its renditions, while the text is read.
        var group: String?
    }

    /// `imports` are the variables of the playlist that has named this one.
    init(
        _ bytes: [UInt8], importing imports: [String: String] = [:]
    ) throws(PlaylistError) {
        guard Self.begins(bytes), bytes.count <= Self.byteLimit,
            let text = String(validating: bytes.dropFirst(bytes[0] == 0xEF ? 3 : 0), as: UTF8.self)
        else { throw .noPlaylist }
        var reader = PlaylistReader(imports: imports)
        var rest = text[...]
        // A line break of Unicode may stand in a title.
        while !rest.isEmpty {
            let line = rest.prefix { $0 != "\n" && $0 != "\r" && $0 != "\r\n" }
            try reader.read(line)
            rest = rest[line.endIndex...].dropFirst()
        }
        self = try reader.end()
    }

    /// A byte order mark may stand before it, although it should not (RFC 8216 §4).
    static func begins(_ bytes: some Sequence<UInt8>) -> Bool {
        ["#EXTM3U", "\u{FEFF}#EXTM3U"].contains { bytes.starts(with: $0.utf8) }
    }
}

/// The segments of one recording, or of what a live one has of it now.
struct MediaPlaylist: Sendable, Equatable {
    var segments: [MediaSegment] = []
    /// In seconds, from 1 to 3600.
    var targetDuration = 0
    /// No segment will follow.
    var isEnded = false
    /// Segments are added and none goes.
    var isEvent = false
}

struct MediaSegment: Sendable, Equatable {
    /// A file, or a range of one, and how it is encrypted.
    struct Resource: Sendable, Hashable {
        var reference: String
        var range: Range<Int>?
        var key: Key?
    }

    struct Key: Sendable, Hashable {
        var reference: String
        /// The initialization vector, 16 bytes; of a segment it is the number if none is said.
        var vector: [UInt8]?
    }

    var sequence = 0
    /// Number in the recording, without a second: an encoder may begin its own numbers again.
    var number = 0
    /// The place of the segment, without secrets; another one at the same number is of another run.
    var identity = ""
    var resource: Resource
    /// Length in seconds.
    var duration: Double
    var isDiscontinuous = false
    /// It is missing, and must not be fetched.
    var isGap = false
    /// The piece that stands before the segment in its file; nil when it needs none.
    var map: Resource?

    var vector: [UInt8] {
        resource.key?.vector
            ?? (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? 0 : sequence >> ((15 - $0) * 8)) }
    }
}

enum PlaylistError: Error, Sendable, Equatable, CustomStringConvertible {
    case noPlaylist
    case malformed(line: Int, String)
    case tooLong
    case protected(by: String)

    var description: String {
        switch self {
        case .noPlaylist: "it is not a playlist of HTTP Live Streaming, or is larger than 4 MiB"
        case .malformed(let line, let reason): "line \(line) of its playlist \(reason)"
        case .tooLong: "its playlist has more than \(Playlist.segmentLimit) segments"
        case .protected(let name): "it is protected by \(name), which utter does not open"
        }
    }
}

private struct PlaylistReader {
    private var variables: [String: String] = [:]
    private let imports: [String: String]
    private var media = MediaPlaylist()
    private var variants: [Playlist.Variant] = []
    /// References to renditions that have the sound of a group.
    private var renditions: [String: String] = [:]
    private var variant: Playlist.Variant?
    private var (line, sequence) = (0, 0)
    /// Tags of the next segment.
    private var duration: Double?
    private var range: (count: Int, start: Int?)?
    private var (isDiscontinuous, isGap, isMedia) = (false, false, false)
    /// Tags of all segments from here on.
    private var (key, map): (MediaSegment.Key?, MediaSegment.Resource?)
    private var last: (reference: String, end: Int)?

    init(imports: [String: String]) { self.imports = imports }

    mutating func read(_ text: Substring) throws(PlaylistError) {
        line += 1
        if text.hasPrefix("#EXT") {
            let parts = text.split(separator: ":", maxSplits: 1)
            try read(tag: parts[0], parts.count > 1 ? String(parts[1]) : "")
        } else if !text.hasPrefix("#"), text.contains(where: { !$0.isWhitespace }) {
            try read(reference: try replacing(text.trimming))
        }
    }

    private func malformed(_ reason: String) -> PlaylistError { .malformed(line: line, reason) }

    private mutating func read(tag: Substring, _ value: String) throws(PlaylistError) {
        switch tag {
        case "#EXTINF": duration = seconds(value)
        case "#EXT-X-BYTERANGE": range = try range(value)
        case "#EXT-X-DISCONTINUITY": isDiscontinuous = true
        case "#EXT-X-GAP": isGap = true
        case "#EXT-X-ENDLIST": media.isEnded = true
        case "#EXT-X-PLAYLIST-TYPE": media.isEvent = value == "EVENT"
        case "#EXT-X-TARGETDURATION":
            (media.targetDuration, isMedia) = (whole(value) ?? 0, true)
        case "#EXT-X-MEDIA-SEQUENCE": sequence = min(whole(value) ?? 0, .max / 2)
        case "#EXT-X-SKIP": throw malformed("leaves segments out, unasked")
        case "#EXT-X-KEY": try readKey(attributes(value))
        case "#EXT-X-MAP":
            let found = try attributes(value)
            var resource = MediaSegment.Resource(reference: try uri(found), range: nil, key: key)
            if let text = found["BYTERANGE"] {
                let place = try range(text)
                resource.range = try range((place.count, place.start ?? 0))
            }
            // A segment's number is not shared by several (RFC 8216 §4.3.2.5).
            if let key, key.vector == nil {
                resource.key?.vector = [UInt8](repeating: 0, count: 16)
            }
            map = resource
        case "#EXT-X-STREAM-INF":
            let found = try attributes(value)
            let codecs = found["CODECS"]?.split(separator: ",").map { $0.trimming } ?? []
            let isSilent = codecs.allSatisfy { codec in
                ["avc", "hvc", "hev", "dv", "vp0", "vp8", "vp9", "av01", "stpp", "wvtt"]
                    .contains { codec.hasPrefix($0) }
            }
            variant = .init(
                reference: "",
                bandwidth: found["BANDWIDTH"].flatMap { UInt32($0) }.map { Int($0) } ?? .max,
                hasSound: codecs.isEmpty || !isSilent, group: found["AUDIO"])
        case "#EXT-X-MEDIA":
            let found = try attributes(value)
            guard found["TYPE"] == "AUDIO", let group = found["GROUP-ID"],
                let reference = found["URI"]
            else { break }
            if renditions[group] == nil || found["DEFAULT"] == "YES" {
                renditions[group] = reference
            }
        case "#EXT-X-DEFINE":
            let found = try attributes(value)
            if let name = found["NAME"] { variables[name] = found["VALUE"] ?? "" }
            if let name = found["IMPORT"] {
                guard let value = imports[name] else {
                    throw malformed("imports something that is missing")
                }
                variables[name] = value
            }
        default: break
        }
    }

    private mutating func readKey(_ found: [String: String]) throws(PlaylistError) {
        let (method, format) = (found["METHOD"] ?? "", found["KEYFORMAT"] ?? "identity")
        guard method != "NONE" else { return key = nil }
        guard method == "AES-128", format == "identity" else {
            throw .protected(by: Self.protection(method, format))
        }
        var vector: [UInt8]?
        if let text = found["IV"] {
            let digits = String(repeating: "0", count: max(0, 34 - text.count)) + text.dropFirst(2)
            guard text.lowercased().hasPrefix("0x"), digits.count == 32,
                digits.allSatisfy(\.isHexDigit)
            else { throw malformed("has an IV that is not one of 128 bits") }
            vector = (0..<16).map { UInt8(digits.dropFirst($0 * 2).prefix(2), radix: 16) ?? 0 }
        }
        key = .init(reference: try uri(found), vector: vector)
    }

    private static func protection(_ method: String, _ format: String) -> String {
        let word = String(method.prefix(30).filter { $0.isASCII && ($0.isLetter || $0 == "-") })
        return switch format.lowercased() {
        case "com.apple.streamingkeydelivery": "FairPlay (\(word))"
        case "com.microsoft.playready": "PlayReady (\(word))"
        case "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed": "Widevine (\(word))"
        default: word.isEmpty ? "a method without a name" : word
        }
    }

    private mutating func read(reference: String) throws(PlaylistError) {
        if var variant {
            variant.reference = reference
            variants.append(variant)
            self.variant = nil
            return
        }
        guard let duration else { throw malformed("names a segment without its duration") }
        guard media.segments.count < Playlist.segmentLimit else { throw .tooLong }
        var place = range
        if place?.start == nil, let last, last.reference == reference { place?.start = last.end }
        var found: Range<Int>?
        if let place { found = try range(place) }
        last = found.map { (reference, $0.upperBound) }
        media.segments.append(
            MediaSegment(
                sequence: sequence, resource: .init(reference: reference, range: found, key: key),
                duration: duration, isDiscontinuous: isDiscontinuous, isGap: isGap, map: map))
        sequence += 1
        (self.duration, range, isDiscontinuous, isGap) = (nil, nil, false, false)
    }

    mutating func end() throws(PlaylistError) -> Playlist {
        guard variants.isEmpty else {
            guard !isMedia, media.segments.isEmpty else {
                throw malformed("has both variants and segments")
            }
            let all = variants.map { variant in
                var variant = variant
                let rendition = variant.group.flatMap { renditions[$0] }
                variant.hasSound = variant.hasSound || rendition != nil
                variant.reference = rendition ?? variant.reference
                return variant
            }
            let heard = all.filter(\.hasSound)
            return .variants(
                (heard.isEmpty ? all : heard).sorted { $0.bandwidth < $1.bandwidth },
                variables: variables)
        }
        guard isMedia || !media.segments.isEmpty else {
            throw malformed("is the last, and none has a target duration")
        }
        if !(1...3_600).contains(media.targetDuration) {
            // As players do, by what is there.
            let longest = media.segments.map(\.duration).max() ?? 0
            media.targetDuration = min(max(1, Int(longest.rounded(.up))), 3_600)
        }
        return .media(media)
    }

    // MARK: - Values

    /// The digits in front; none, or a sign, is zero.
    private func seconds(_ text: String) -> Double {
        let text = text.trimming
        let digits = text.prefix(20).prefix { $0 == "." || ("0"..."9").contains($0) }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let value = Double("0\(parts.first ?? "").\(parts.count > 1 ? parts[1] : "")0") ?? 0
        return min(value, 86_400)
    }

    /// The digits in front; nil without one.
    private func whole(_ text: some StringProtocol) -> Int? {
        let digits = text.trimming.prefix { ("0"..."9").contains($0) }
        return digits.isEmpty ? nil : Int(digits) ?? .max
    }

    /// `COUNT[@START]`.
    private func range(_ text: String) throws(PlaylistError) -> (count: Int, start: Int?) {
        let parts = text.split(separator: "@").map { whole($0) }
        guard (1...2).contains(parts.count), let count = parts[0], count > 0,
            parts.count == 1 || parts[1] != nil
        else { throw malformed("has no byte range") }
        return (count, parts.count == 2 ? parts[1] : nil)
    }

    private func range(_ place: (count: Int, start: Int?)) throws(PlaylistError) -> Range<Int> {
        guard let start = place.start, start >= 0, start < Int.max / 4, place.count < Int.max / 4
        else { throw malformed("has a byte range that begins nowhere") }
        return start..<start + place.count
    }

    private func uri(_ found: [String: String]) throws(PlaylistError) -> String {
        guard let uri = found["URI"] else { throw malformed("lacks a URI") }
        return uri
    }

    /// `NAME=VALUE` with commas between them; a value in quotation marks may hold commas (§4.2).
    private func attributes(_ text: String) throws(PlaylistError) -> [String: String] {
        var found: [String: String] = [:]
        var rest = text[...]
        while let sign = rest.firstIndex(of: "=") {
            let name = rest[..<sign].trimming
            rest = rest[rest.index(after: sign)...]
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst() }
            let value = rest.prefix { $0 != (isQuoted ? "\"" : ",") }
            found[name] = isQuoted ? try replacing(String(value)) : value.trimming
            rest = rest[value.endIndex...].drop { $0 != "," }.dropFirst()
        }
        return found
    }

    /// With the values of variables, which stand as `{$NAME}`.
    private func replacing(_ text: String) throws(PlaylistError) -> String {
        guard text.contains("{$") else { return text }
        let text = variables.reduce(text) { $0.replacing("{$\($1.key)}", with: $1.value) }
        guard !text.contains("{$"), text.utf8.count < 1 << 16 else {
            throw malformed("names a variable that is not defined")
        }
        return text
    }
}

extension StringProtocol {
    fileprivate var trimming: String {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}
