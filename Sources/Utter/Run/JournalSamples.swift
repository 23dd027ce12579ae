// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import AudioCore
package import LinuxPlatform
package import TakeStore

/// The samples of a sealed journal, 16 kHz mono, read a little at a time.
package struct JournalSamples {
    /// Why there are no more samples.
    package enum Failure: Error, Sendable, Equatable {
        /// The disk failed.
        case unreadable(SystemError)
        /// The audio is damaged.
        case damaged(OggOpusError)
    }

    private let journal: Journal
    /// Nil when the samples stand in the journal as they are.
    private let decoder: OggOpusDecoder?
    private var offset: Int
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// Begins at the first sample of a journal that was recorded in this form.
    package init(_ journal: Journal, format: AudioFormat) {
        self.journal = journal
        let isOpus = format == .oggOpus
        decoder = isOpus ? OggOpusDecoder() : nil
        offset = isOpus ? 0 : WAVEncoder.headerByteCount
    }

    /// Replaces `samples` with the next ones.
    ///
    /// Blocks on the disk.
    ///
    /// - Returns: false at the end.
    /// - Throws: `Failure`.
    package mutating func next(into samples: inout [Int16]) throws(Failure) -> Bool {
        samples.removeAll(keepingCapacity: true)
        // A page may hold no whole sample; an odd byte at the end is no sample.
        while samples.isEmpty {
            let count = try read()
            guard decoder != nil ? count > 0 : count > 1 else { return false }
            let taken = decoder == nil ? count & ~1 : count
            offset += taken
            let bytes = buffer.span.extracting(first: taken)
            guard let decoder else {
                SampleFormat.int16.decode(bytes, into: &samples)
                continue
            }
            do throws(OggOpusError) {
                try decoder.decode(bytes, into: &samples)
            } catch {
                throw .damaged(error)
            }
        }
        return true
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
