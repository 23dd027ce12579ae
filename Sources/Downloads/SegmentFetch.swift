// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization

/// Fetches one segment, what stands before it, and its key; from any thread that may block.
struct SegmentFetch: Sendable {
    let fetch: FileFetch
    let folder: Folder
    let room: Room
    private let keys = Keys()

    /// In bytes: of what is encrypted, which is opened in memory; of a file with a key.
    private static let sealedLimit = 64 << 20
    private static let keyFileLimit = 1_024
    private static let keyLimit = 1_000

    /// The kinds of answers to a request for a segment.
    private enum Content { case sound, nothing, text }

    private final class Keys: Sendable {
        let known = Mutex<[ServiceURL: [UInt8]]>([:])
    }

    /// The path and the range, without what signs them.
    func identity(of resource: MediaSegment.Resource, _ base: ServiceURL) -> String {
        // A reference that cannot be resolved fails when it is fetched.
        let url = try? fetch.resolve(resource.reference, from: base)
        let path = url.map { String($0.target.prefix { $0 != "?" }) } ?? ""
        let text = path + (resource.range.map { " \($0)" } ?? "")
        return String(FNV.hash(text.utf8), radix: 16)
    }

    func entry(
        of segment: MediaSegment, at base: ServiceURL, _ isLive: Bool
    ) throws(DownloadFailure) -> LocalPlaylist.Entry {
        var (name, map): (String?, String?)
        if !segment.isGap {
            do throws(DownloadFailure) {
                if let resource = segment.map {
                    let place = try fetch.resolve(resource.reference, from: base).text
                    let mark = FNV.hash("\(place) \(resource)".utf8)
                    let mapped = "map-\(String(mark, radix: 16)).mp4"
                    if folder.size(of: mapped) == nil {
                        let vector = resource.key?.vector ?? []
                        guard try file(resource, vector, at: base, as: mapped) == .sound else {
                            throw .unreachable(
                                "what stands before its segments did not come as sound")
                        }
                    }
                    map = mapped
                }
                let url = try fetch.resolve(segment.resource.reference, from: base)
                let suffix = FileSuffix.of(url, or: map == nil ? "ts" : "m4s")
                let file = "\(segment.number).\(suffix)"
                let content = try self.file(segment.resource, segment.vector, at: base, as: file)
                // The server may give the sound to those who log in, or later.
                guard content != .text || isLive else {
                    throw .unreachable("segment \(segment.number) of its playlist came as a text")
                }
                name = content == .sound ? file : nil
            } catch {
                // It may have gone from a live playlist meanwhile.
                guard isLive, case .refused = error else { throw error }
            }
        }
        return LocalPlaylist.Entry(segment, name: name, map: map)
    }

    /// Asks until sound comes, and otherwise tells what the last answer was.
    private func file(
        _ resource: MediaSegment.Resource, _ vector: [UInt8], at base: ServiceURL, as name: String
    ) throws(DownloadFailure) -> Content {
        let url = try fetch.resolve(resource.reference, from: base)
        var key: [UInt8]?
        if let named = resource.key {
            key = try self.key(try fetch.resolve(named.reference, from: base))
        }
        for pause in FileFetch.pauses {
            if try file(url, resource.range, key, vector, as: name) == .sound { return .sound }
            try fetch.pause(pause)
        }
        return try file(url, resource.range, key, vector, as: name)
    }

    private func file(
        _ url: ServiceURL, _ range: Range<Int>?, _ key: [UInt8]?, _ vector: [UInt8],
        as name: String
    ) throws(DownloadFailure) -> Content {
        // Two lanes may fetch the same map.
        let part = "\(name)-\(UInt32.random(in: .min ... .max)).part"
        let made = try onDisk { () throws(SystemError) in
            makePlainFile(try folder.createFile(part))
        }
        let target = FetchTarget(made, limit: room.left, room.reason) {
            [room] target throws(DownloadFailure) in try room.check(at: target.part.byteCount)
        }
        do throws(DownloadFailure) {
            let sealed = FetchTarget(
                nil, limit: Self.sealedLimit, "an encrypted segment has more than 64 MiB")
            let source = key == nil ? target : sealed
            _ = try fetch.load(url, range, isOpened: false, into: source)
            guard !source.isNoSound else {
                try? folder.removeFile(part)  // It would take room, and nothing else.
                return source.part.byteCount == 0 ? .nothing : .text
            }
            if let key {
                guard let plain = Self.opened(sealed.bytes, key, vector) else {
                    throw .unusable("\(name) of its playlist does not open with its key")
                }
                try target.write(plain.span)
            }
            try target.sync()
            try onDisk { () throws(SystemError) in try folder.renameFile(part, to: name) }
        } catch {
            try? folder.removeFile(part)  // The next run would not need it.
            throw error
        }
        room.add(target.part.byteCount)
        return .sound
    }

    private static func opened(_ bytes: [UInt8], _ key: [UInt8], _ vector: [UInt8]) -> [UInt8]? {
        // Some makers leave what stands before encrypted segments in the clear.
        if bytes.dropFirst(4).starts(with: "ftyp".utf8) { return bytes }
        return AESCBC.open(bytes, key: key, vector: vector)
    }

    private func key(_ url: ServiceURL) throws(DownloadFailure) -> [UInt8] {
        let (known, count) = keys.known.withLock { ($0[url], $0.count) }
        if let known { return known }
        guard count < Self.keyLimit else {
            throw .unusable("its playlist has more than \(Self.keyLimit) keys")
        }
        let target = FetchTarget(nil, limit: Self.keyFileLimit, "a key has more than 1 KiB")
        _ = try fetch.load(url, isOpened: false, into: target)
        guard target.bytes.count == AESCBC.keyByteCount else {
            throw .unusable("a key of its playlist has \(target.bytes.count) bytes instead of 16")
        }
        keys.known.withLock { $0[url] = target.bytes }
        return target.bytes
    }
}

/// How much more a download may hold; from any thread.
final class Room: Sendable {
    private let folder: Folder
    private let limits: DownloadLimits
    private let byteCount: Int
    let reason: String
    private let sum = Atomic(0)
    private let nextLook = Atomic(0)
    /// How much comes between two looks at the free space, in bytes.
    private static let interval = 1 << 20

    /// Makes the room that the other downloads leave.
    init(in parent: Folder, without id: String, _ limits: DownloadLimits) throws(DownloadFailure) {
        let names = try onDisk { () throws(SystemError) in try parent.names() }
        let others = names.filter { $0 != id }.reduce(0) { sum, name in
            // A folder that cannot be looked at holds nothing, as far as can be said.
            sum + ((try? DownloadFolder(name, in: parent).byteCount) ?? 0)
        }
        (folder, self.limits, byteCount) = (parent, limits, max(0, limits.bytes - others))
        reason = "it is longer than the \(byteCount >> 20) MiB that are left for downloads"
        try check()
    }

    // Counts, which hand nothing over.
    var came: Int { sum.load(ordering: .relaxed) }
    var left: Int { byteCount - came }
    func add(_ count: Int) { sum.add(count, ordering: .relaxed) }
    func clear() { sum.store(0, ordering: .relaxed) }

    func check() throws(DownloadFailure) {
        guard let free = folder.freeByteCount, free < limits.free else { return }
        throw .noRoom(DiskSpace.shortage(free, limit: limits.free))
    }

    /// Looks at it once in a while.
    func check(at count: Int) throws(DownloadFailure) {
        guard count / Self.interval != nextLook.exchange(count / Self.interval, ordering: .relaxed)
        else { return }
        try check()
    }
}
