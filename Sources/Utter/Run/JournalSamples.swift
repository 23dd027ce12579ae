// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
package import LinuxPlatform
package import TakeStore

/// The samples of a sealed journal, 16 kHz mono, read a little at a time.
package struct JournalSamples {
    package enum Failure: Error, Sendable, Equatable {
        case unreadable(SystemError)
        case damaged(UndecodableAudio)
    }

    private let journal: Journal
    private let decoder: any AudioDecoder
    private let header: [UInt8]
    private var offset = 0
    private var hasEnded = false
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// Begins at the first sample of a journal that was recorded in this form.
    package init(_ journal: Journal, codec: AudioCodec) {
        self.journal = journal
        decoder = codec.makeDecoder()
        header = codec.header
    }

    /// Replaces `samples` with the next ones.
    ///
    /// Blocks on the disk.
    ///
    /// - Returns: false at the end.
    /// - Throws: `Failure`.
    package mutating func next(into samples: inout [Int16]) throws(Failure) -> Bool {
        samples.removeAll(keepingCapacity: true)
        // A page may hold no whole sample.
        while samples.isEmpty, !hasEnded {
            let count = try read()
            // A file of ours begins as all of its form do, whatever has become of its beginning.
            for index in header.indices where offset == 0 && count >= header.count {
                buffer[index] = header[index]
            }
            offset += count
            hasEnded = count == 0
            do throws(UndecodableAudio) {
                try decoder.decode(buffer.span.extracting(first: count), into: &samples)
                if hasEnded { try decoder.finish(into: &samples) }
            } catch {
                throw .damaged(error)
            }
        }
        return !samples.isEmpty
    }

    private mutating func read() throws(Failure) -> Int {
        let found = unsafe buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in unsafe try journal.read(at: offset, into: bytes) }
        }
        do throws(SystemError) {
            if case .bytes(let count) = try found.get() { return count }
            return 0
        } catch {
            throw .unreadable(error)
        }
    }
}

extension JournalSamples.Failure: CustomStringConvertible {
    /// What happened and why, in one line without capital and full stop.
    package var description: String {
        switch self {
        case .unreadable(let error): "reading the take failed: \(error.reason)"
        case .damaged(let error): "the take is damaged: \(error.description)"
        }
    }
}
