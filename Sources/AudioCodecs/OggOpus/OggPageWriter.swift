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

    /// Makes pages of ours, which follow one another, the first ones behind the headers of a stream of
    /// their own, with its end: their numbers, positions and checksums (RFC 3533 §6).
    static func renumber(_ pages: inout [UInt8], serialNumber: UInt32) {
        // From the beginning of a page.
        let (flags, position, serial, number, segments) = (5, 6..<14, 14..<18, 18..<22, 26)
        var (start, count): (Int, UInt64) = (0, 0)
        var first: UInt64?
        while start + pageHeaderByteCount <= pages.count {
            let bodyStart = start + pageHeaderByteCount + Int(pages[start + segments])
            guard bodyStart <= pages.count else { return }
            let length = pages[(start + pageHeaderByteCount)..<bodyStart].reduce(0) { $0 + Int($1) }
            let end = bodyStart + length
            guard end <= pages.count else { return }
            func value(_ place: Range<Int>) -> UInt64 {
                place.reversed().reduce(0) { $0 << 8 | UInt64(pages[start + $1]) }
            }
            func put(_ value: UInt64, _ place: Range<Int>) {
                for (shift, index) in place.enumerated() {
                    pages[start + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(shift)))
                }
            }
            let origin = first ?? value(position) &- OggOpusEncoder.granulesPerPage
            first = origin
            put(value(position) &- origin, position)
            put(UInt64(serialNumber), serial)
            put(headerPageCount + count, number)
            if end == pages.count { pages[start + flags] |= 4 }
            unsafe pages.withUnsafeMutableBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return }
                var page = unsafe ogg_page(
                    header: base + start, header_len: bodyStart - start,
                    body: base + bodyStart, body_len: length)
                unsafe ogg_page_checksum_set(&page)
            }
            (start, count) = (end, count + 1)
        }
    }

    /// The headers of Opus have a page each (RFC 7845 §3).
    private static let headerPageCount: UInt64 = 2
}
