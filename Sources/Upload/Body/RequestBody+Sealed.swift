// SPDX-License-Identifier: Apache-2.0

package import Cryptography
internal import Glibc
internal import LinuxPlatform

extension RequestBody {
    /// The encrypted form of this body, behind a head that says what it is.
    package func sealed(_ head: SealedHead, by form: SealedBody) -> RequestBody {
        var plain = self
        plain.prologue = head.bytes + prologue
        return RequestBody(SealedSource(plain: plain, form: form))
    }
}

/// A body that is encrypted where it is read.
private struct SealedSource: BodySource {
    let plain: RequestBody
    let form: SealedBody

    var isSealed: Bool { plain.available.isWhole }

    var byteCount: Int {
        let available = plain.available
        return SealedBody.byteCount(of: available.byteCount, isWhole: available.isWhole)
    }

    func recordingByteCount(at offset: Int) -> Int {
        plain.sourceByteCount(at: SealedBody.plainByteCount(at: offset))
    }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let available = plain.available
        return unsafe try form.read(
            at: offset, of: available.byteCount, isWhole: available.isWhole, into: buffer
        ) { start, frame throws(SystemError) in
            var filled = 0
            while filled < frame.count {
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: frame[filled...])
                guard case .bytes(let count) = unsafe try plain.read(at: start + filled, into: room)
                else { throw SystemError(call: "read the recording", code: EIO) }
                filled += count
            }
        }
    }
}
