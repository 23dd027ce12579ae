// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
public import LinuxPlatform
internal import TakeStore

/// The samples of a complete take, 16 kHz mono, read a little at a time.
public struct TakeSamples {
    /// Why no more samples can be had.
    public enum Failure: Error, Sendable, Equatable {
        /// The disk does not give them back.
        case unreadable(SystemError)
        /// The audio holds something else than what was recorded.
        case damaged(reason: String)
    }

    /// The parts of the audio that are silent because they were altered or damaged; nil: none.
    ///
    /// It knows what its decoder finds once the samples have been read.
    public var damageReport: String? { report ?? flaws.sentence(about: "it") }

    private let report: String?
    private var flaws = FlawSummary()
    private var frameCount = 0
    private let journal: Journal
    private let decoder: any AudioDecoder
    private let header: [UInt8]
    private var offset = 0
    private var hasEnded = false
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    init(_ journal: Journal, codec: AudioCodec, damageReport: String? = nil) {
        (self.journal, report) = (journal, damageReport)
        decoder = codec.makeDecoder()
        header = codec.header
    }

    /// Replaces `samples` with the next ones.
    ///
    /// Blocks on the disk.
    ///
    /// - Returns: false at the end.
    /// - Throws: `Failure`.
    public mutating func next(into samples: inout [Int16]) throws(Failure) -> Bool {
        samples.removeAll(keepingCapacity: true)
        var decoded: [Int16] = []
        // A page may hold no whole sample.
        while samples.isEmpty, !hasEnded {
            let count = try buffer.readTake(from: journal, at: offset)
            // A file of ours begins as all of its form do, whatever has become of its beginning.
            for index in header.indices where offset == 0 && count >= header.count {
                buffer[index] = header[index]
            }
            offset += count
            hasEnded = count == 0
            do throws(UndecodableAudio) {
                try decoder.decode(buffer.span.extracting(first: count), into: &decoded)
                if hasEnded { try decoder.finish(into: &decoded) }
            } catch {
                throw .damaged(reason: error.description)
            }
            let found = decoder.takeFlaws()
            flaws.add(found.map(\.text))
            found.weave(decoded, from: &frameCount, channels: 1) { piece in
                for index in piece.indices { samples.append(piece[index]) }
            }
            decoded.removeAll(keepingCapacity: true)
        }
        return !samples.isEmpty
    }
}

extension [UInt8] {
    /// Blocks on the disk; 0 at the end.
    mutating func readTake(
        from journal: Journal, at offset: Int
    ) throws(TakeSamples.Failure) -> Int {
        do throws(SystemError) {
            return try read(from: journal, at: offset)
        } catch {
            throw .unreadable(error)
        }
    }
}

extension TakeSamples.Failure: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .unreadable(let error): "reading the take failed: \(error.reason)"
        case .damaged(let reason): "the take is damaged: \(reason)"
        }
    }
}
