// SPDX-License-Identifier: Apache-2.0

internal import COpus

/// Writer of a logical Ogg stream (RFC 3533): packets in, pages out.
///
/// Sound because the state is allocated in `init`, never handed out, and freed in `deinit`; it
/// lives on the heap because the pages that libogg makes point into it.
@safe struct OggPageWriter: ~Copyable {
    /// The longest header of a page with one packet, in bytes, without its segment table.
    static let pageHeaderByteCount = 27

    private let stream: UnsafeMutablePointer<ogg_stream_state>
    private var packetNumber: Int64 = 0

    init(serialNumber: UInt32) throws(EncodingError) {
        let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
        unsafe stream.initialize(to: ogg_stream_state())
        guard unsafe ogg_stream_init(stream, Int32(bitPattern: serialNumber)) == 0 else {
            unsafe stream.deallocate()
            throw Self.failure("ogg_stream_init")
        }
        unsafe self.stream = stream
    }

    deinit {
        _ = unsafe ogg_stream_clear(stream)
        unsafe stream.deallocate()
    }

    /// Queues the packet with which an array begins; libogg copies it.
    ///
    /// The granule position is that of the page that the packet ends, if it is the page's last one.
    mutating func queue(
        _ packet: inout [UInt8], byteCount: Int, granulePosition: Int, isLast: Bool = false
    ) throws(EncodingError) {
        let number = packetNumber
        let stream = unsafe stream
        let code = unsafe packet.withUnsafeMutableBufferPointer { bytes in
            var packet = unsafe ogg_packet()
            unsafe packet.packet = bytes.baseAddress
            unsafe packet.bytes = byteCount
            unsafe packet.b_o_s = number == 0 ? 1 : 0
            unsafe packet.e_o_s = isLast ? 1 : 0
            unsafe packet.granulepos = Int64(granulePosition)
            unsafe packet.packetno = number
            return unsafe ogg_stream_packetin(stream, &packet)
        }
        guard code == 0 else { throw Self.failure("ogg_stream_packetin") }
        packetNumber += 1
    }

    mutating func flush(into output: inout [UInt8]) {
        var page = unsafe ogg_page()
        while unsafe ogg_stream_flush(stream, &page) != 0 {
            unsafe output.append(
                contentsOf: UnsafeBufferPointer(start: page.header, count: page.header_len))
            unsafe output.append(
                contentsOf: UnsafeBufferPointer(start: page.body, count: page.body_len))
        }
    }

    private static func failure(_ operation: String) -> EncodingError {
        .codecFailed(operation: operation, reason: "out of memory")
    }
}
