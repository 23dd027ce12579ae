// SPDX-License-Identifier: Apache-2.0

internal import COpus
internal import Glibc

/// Cuts a byte stream into Ogg pages, and pages into packets (RFC 3533), with libogg.
///
/// Memory is bounded: bytes are taken in small pieces, and a packet that goes on over pages is
/// refused when it grows past a limit. The unsafe calls are sound because both C structures own
/// their memory, live as long as this value, and are never handed out; `page` points into the
/// page buffer and is read only until the next call of `nextPage` or `append`.
@safe struct OggPageReader: ~Copyable {
    struct Page {
        var serialNumber: Int32
        var sequenceNumber: Int
        var granulePosition: Int64
        var isFirst: Bool
        var isLast: Bool
        var packetCount: Int
        var byteCount: Int
    }

    private var sync = unsafe ogg_sync_state()
    private var page = unsafe ogg_page()
    private var stream = unsafe ogg_stream_state()
    private(set) var byteCount = 0
    /// Places without a page, each of which may cost the time of a longest one.
    private(set) var brokenCount = 0

    init() {
        unsafe ogg_sync_init(&sync)
        unsafe ogg_stream_init(&stream, 0)
    }

    deinit {
        var sync = unsafe sync
        var stream = unsafe stream
        unsafe ogg_sync_clear(&sync)
        unsafe ogg_stream_clear(&stream)
    }

    /// At most so many bytes at once keep the buffer small.
    static let pieceByteCount = 4_096

    /// Takes bytes in, `pieceByteCount` at most.
    mutating func append(_ bytes: Span<UInt8>) throws(UndecodableAudio) {
        guard let buffer = unsafe ogg_sync_buffer(&sync, bytes.count) else {
            throw .codecFailed(reason: "out of memory")
        }
        for index in bytes.indices {
            unsafe buffer[index] = CChar(bitPattern: bytes[index])
        }
        _ = unsafe ogg_sync_wrote(&sync, bytes.count)
    }

    /// Reads the next page; nil when it needs more bytes.
    ///
    /// - Throws: `UndecodableAudio.notAPage` when the next bytes are not an intact page; reading may go
    ///   on where the next one may begin.
    mutating func nextPage() throws(UndecodableAudio) -> Page? {
        let count = unsafe ogg_sync_pageseek(&sync, &page)
        defer { byteCount += abs(count) }
        guard count >= 0 else {
            brokenCount += 1
            throw .notAPage(offset: byteCount)
        }
        guard count > 0 else { return nil }
        guard unsafe ogg_page_version(&page) == 0 else { throw .notAPage(offset: byteCount) }
        return unsafe Page(
            serialNumber: ogg_page_serialno(&page),
            sequenceNumber: Int(UInt32(truncatingIfNeeded: ogg_page_pageno(&page))),
            granulePosition: ogg_page_granulepos(&page),
            isFirst: ogg_page_bos(&page) != 0,
            isLast: ogg_page_eos(&page) != 0,
            packetCount: Int(ogg_page_packets(&page)),
            byteCount: count)
    }

    /// Whether the page begins with these bytes.
    func begins(with bytes: [UInt8]) -> Bool {
        guard unsafe page.body_len >= bytes.count, let body = unsafe page.body else { return false }
        return unsafe memcmp(body, bytes, bytes.count) == 0
    }

    mutating func beginStream(serialNumber: Int32) {
        _ = unsafe ogg_stream_reset_serialno(&stream, serialNumber)
    }

    mutating func beginPackets(limit: Int) throws(UndecodableAudio) {
        guard unsafe ogg_stream_pagein(&stream, &page) == 0 else {
            throw .notAPage(offset: byteCount)
        }
        guard unsafe stream.body_fill - stream.body_returned <= limit + Self.maximumPageByteCount
        else { throw .ogg("a packet is longer than \(limit) bytes") }
    }

    /// False when the page has no further whole packet.
    ///
    /// - Throws: what `body` throws.
    mutating func nextPacket(
        _ body: (Span<UInt8>) throws(UndecodableAudio) -> Void
    ) throws(UndecodableAudio) -> Bool {
        var packet = unsafe ogg_packet()
        var result = unsafe ogg_stream_packetout(&stream, &packet)
        // A hole, which the numbers of the pages have told.
        while result < 0 { result = unsafe ogg_stream_packetout(&stream, &packet) }
        guard result != 0 else { return false }
        let bytes = unsafe UnsafeBufferPointer(start: packet.packet, count: Int(packet.bytes))
        try unsafe body(bytes.span)
        return true
    }

    /// The most bytes that the body of one page can have: 255 segments of 255 bytes.
    private static let maximumPageByteCount = 65_025
}
