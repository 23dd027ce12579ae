// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// Which addresses are those of this machine, of the network around it, or of nothing in the internet.
///
/// By the registries of special addresses (RFC 6890), and the forms of an IPv4 address inside IPv6.
/// An unknown address counts as own.
enum OwnNetwork {
    /// The first bits of addresses, and how many count.
    private static let four: [([UInt8], Int)] = [
        // This network; private (RFC 1918); shared (RFC 6598); loopback; link-local (RFC 3927).
        ([0], 8), ([10], 8), ([172, 16], 12), ([192, 168], 16), ([100, 64], 10), ([127], 8),
        ([169, 254], 16),
        // Protocols and documentation; benchmarks; multicast; what is reserved, and broadcast.
        ([192, 0, 0], 24), ([192, 0, 2], 24), ([198, 51, 100], 24), ([203, 0, 113], 24),
        ([198, 18], 15), ([224], 4), ([240], 4),
    ]

    /// 4 or 16 bytes, in the order of the network.
    static func contains(_ address: [UInt8]) -> Bool {
        if address.count == 4 {
            return four.contains { matches(address, $0.0, $0.1) }
        }
        guard address.count == 16 else { return true }
        let zeros = [UInt8](repeating: 0, count: 16)
        // As a part of it: mapped and compatible (RFC 4291 §2.5.5), translated (RFC 6052, RFC 8215;
        // RFC 2765), 6to4 (RFC 3056); Teredo has the client's with its bits turned (RFC 4380 §4).
        let parts: [(prefix: [UInt8], count: Int, place: Int)] = [
            (Array(zeros[..<10]) + [0xFF, 0xFF], 96, 12), (Array(zeros[..<12]), 96, 12),
            ([0, 0x64, 0xFF, 0x9B] + zeros[..<8], 96, 12),
            (Array(zeros[..<8]) + [0xFF, 0xFF, 0, 0], 96, 12), ([0x20, 0x02], 16, 2),
        ]
        for part in parts where matches(address, part.prefix, part.count) {
            return contains(Array(address[part.place..<part.place + 4]))
        }
        if matches(address, [0x20, 0x01, 0, 0], 32) {
            return contains(address[12...].map { ~$0 })
        }
        // Only what is given out as global counts as the internet (RFC 4291 §2.4); documentation.
        return !matches(address, [0x20], 3) || matches(address, [0x20, 0x01, 0x0D, 0xB8], 32)
    }

    private static func matches(_ address: [UInt8], _ prefix: [UInt8], _ count: Int) -> Bool {
        (0..<count).allSatisfy { bit in
            let byte = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            return (address[bit / 8] ^ byte) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }

    /// Whether nothing in the internet has the name (RFC 6761, RFC 6762, RFC 8375).
    static func isOwnName(_ host: String) -> Bool {
        let host = host.hasSuffix(".") ? host.dropLast() : host[...]
        return !host.contains(".")
            || [".localhost", ".local", ".internal", ".home.arpa", ".lan"]
                .contains { host.lowercased().hasSuffix($0) }
    }

    /// The place in the own network that a URL itself names, by address or name; or nil.
    static func ownPlace(in url: String) -> String? {
        let host = ProxyRoute.host(in: url)
        guard let address = ProxyRoute.address(host) else {
            return host.isEmpty || !isOwnName(host) ? nil : host
        }
        return shown(address)
    }

    /// An address of the own network as a person reads it; nil for another one.
    static func shown(_ address: [UInt8]) -> String? {
        guard contains(address) else { return nil }
        if address.count == 4 { return address.map { "\($0)" }.joined(separator: ".") }
        return stride(from: 0, to: address.count - 1, by: 2).map {
            String(Int(address[$0]) << 8 | Int(address[$0 + 1]), radix: 16)
        }.joined(separator: ":")
    }
}
