// SPDX-License-Identifier: Apache-2.0

enum OggOpusError: Error, Sendable, Hashable {
    /// No Ogg page begins at this byte, or its checksum is wrong (RFC 3533 §6).
    case notAPage(offset: Int)
    case missingPages(before: Int)
    case multiplexed
    /// RFC 7845 §5.1.
    case notOpus(reason: String)
    /// RFC 7845 §5.2.
    case missingTags
    case packetTooLong(limit: Int)
    /// An Opus packet cannot be decoded; packets are counted from 0, without the headers.
    case damagedPacket(number: Int, reason: String)
    /// A page's granule position contradicts the audio before it (RFC 7845 §4).
    case impossiblePosition(Int64)
    case endedInHeader
    case codecFailed(reason: String)
}

extension OggOpusError: CustomStringConvertible {
    var description: String {
        switch self {
        case .notAPage(let offset):
            "Ogg Opus: byte \(offset) does not begin an intact Ogg page"
        case .missingPages(let sequence):
            "Ogg Opus: pages are missing before page \(sequence)"
        case .multiplexed:
            "Ogg Opus: the file holds more than one stream"
        case .notOpus(let reason):
            "Ogg Opus: \(reason)"
        case .missingTags:
            "Ogg Opus: the second packet is not 'OpusTags'"
        case .packetTooLong(let limit):
            "Ogg Opus: a packet is longer than \(limit) bytes"
        case .damagedPacket(let number, let reason):
            "Ogg Opus: packet \(number): \(reason)"
        case .impossiblePosition(let position):
            "Ogg Opus: granule position \(position) contradicts the audio before it"
        case .endedInHeader:
            "Ogg Opus: the stream ended before its headers were complete"
        case .codecFailed(let reason):
            "Ogg Opus: cannot create a decoder: \(reason)"
        }
    }
}
