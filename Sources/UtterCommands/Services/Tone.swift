// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Half a second of a quiet tone: no speech, and not the digital silence at which some recognisers
/// fail.
enum Tone {
    private static let rate = 16_000
    private static let hertz = 440.0
    /// About -30 dBFS.
    private static let amplitude = 1_000.0

    /// A WAV file of it, which has no name and goes with its descriptor.
    ///
    /// - Returns: the descriptor, which the caller closes.
    /// - Throws: `SystemError` when there is no room for it.
    static func file() throws(SystemError) -> Int32 {
        var path = Array("/tmp/utter-tone-XXXXXX".utf8CString)
        let number = unsafe mkstemp(&path)
        guard number >= 0 else { throw SystemError.last("mkstemp") }
        unsafe unlink(path)
        let bytes = wav
        let count = unsafe bytes.withUnsafeBytes {
            unsafe pwrite(number, $0.baseAddress, $0.count, 0)
        }
        guard count == bytes.count else {
            let error = SystemError.last("write")
            close(number)
            throw error
        }
        return number
    }

    private static var wav: [UInt8] {
        let samples = (0..<rate / 2).map { index in
            Int16(amplitude * sin(2 * Double.pi * hertz * Double(index) / Double(rate)))
        }
        let byteCount = UInt32(samples.count * 2)
        var bytes = Array("RIFF".utf8) + little(byteCount + 36) + Array("WAVEfmt ".utf8)
        bytes += little(UInt32(16)) + little(UInt16(1)) + little(UInt16(1))
        bytes += little(UInt32(rate)) + little(UInt32(rate * 2)) + little(UInt16(2))
        bytes += little(UInt16(16)) + Array("data".utf8) + little(byteCount)
        for sample in samples { bytes += little(UInt16(bitPattern: sample)) }
        return bytes
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
