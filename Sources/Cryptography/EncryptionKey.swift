// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform
internal import Synchronization

/// The person's key, under which takes are encrypted on the disk: 32 random bytes, or a passphrase.
///
/// It encrypts nothing itself: each box has a key of its own, derived with HKDF-SHA256 from a root
/// and a random salt. The root of a random key is the key; that of a passphrase is made of it by
/// scrypt, so that nothing on the disk tests a guess for less than that costs. Secrets are cleared
/// from memory with the last reference. Usable from any thread; the first use of a passphrase takes
/// a fifth of a second.
public final class EncryptionKey: Sendable {
    /// Distinct bytes of a secret; text and random bytes have many more.
    private static let minimumVariety = 5
    private static let textPrefix = Array("utter-key-".utf8)

    private struct State {
        /// As it was given.
        var secret: [UInt8]
        /// Empty for a passphrase.
        var random: [UInt8]
        var derivation: KeyDerivation
        /// Kept, since each takes its time.
        var roots: [(derivation: KeyDerivation, bytes: [UInt8])] = []

        mutating func root(_ derivation: KeyDerivation) throws(SystemError) -> [UInt8] {
            guard case .scrypt = derivation else { return random }
            if let known = roots.first(where: { $0.derivation == derivation }) {
                return known.bytes
            }
            let root = try derivation.root(of: secret)
            roots.append((derivation, root))
            return root
        }

        mutating func clear() {
            secret.clear()
            random.clear()
            for index in roots.indices { roots[index].bytes.clear() }
        }
    }

    package let isPassphrase: Bool
    private let state: Mutex<State>

    /// Takes over what a key file holds: a line of `makeText`, or else a passphrase.
    ///
    /// - Parameter secret: all bytes count.
    /// - Throws: `KeyError` when it is neither, or a passphrase that can be guessed.
    public convenience init(secret: [UInt8]) throws(KeyError) {
        guard secret.starts(with: Self.textPrefix) else {
            guard secret.count >= Passphrase.minimumByteCount else {
                throw .tooShort(minimum: Passphrase.minimumByteCount)
            }
            try Self.refuseGuessable(secret)
            guard !Passphrase.isPredictable(secret) else { throw .predictable }
            self.init(
                secret: secret, random: [],
                .scrypt(salt: .random(KeyDerivation.saltByteCount), .standard))
            return
        }
        var bytes = Self.bytes(ofText: secret) ?? []
        defer { bytes.clear() }
        try self.init(bytes: bytes, secret: secret)
    }

    package convenience init(bytes: [UInt8]) throws(KeyError) {
        try self.init(bytes: bytes, secret: bytes)
    }

    private convenience init(bytes: [UInt8], secret: [UInt8]) throws(KeyError) {
        guard bytes.count == AESGCM.keyByteCount else { throw .damaged }
        try Self.refuseGuessable(bytes)
        self.init(secret: secret, random: bytes, .none)
    }

    private init(secret: [UInt8], random: [UInt8], _ derivation: KeyDerivation) {
        isPassphrase = random.isEmpty
        // Copies of our own, which no other reference keeps from being cleared.
        state = Mutex(
            State(
                secret: secret.map { $0 }, random: random.map { $0 }, derivation: derivation))
    }

    deinit { state.withLock { $0.clear() } }

    private static func refuseGuessable(_ bytes: [UInt8]) throws(KeyError) {
        guard Set(bytes).count >= minimumVariety else { throw .guessable }
    }

    /// `utter-key-`, 64 hexadecimal digits and a line feed; the caller clears it.
    package static func makeText() -> [UInt8] {
        var bytes = [UInt8].random(AESGCM.keyByteCount)
        defer { bytes.clear() }
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        // Reserved, so that growing leaves no copy behind.
        text.reserveCapacity(textPrefix.count + 2 * bytes.count + 1)
        text += textPrefix
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return text + [0x0A]
    }

    /// The number of random bits as well; the caller clears the bytes.
    package static func makePassphrase() -> (bytes: [UInt8], bits: Int) { Passphrase.make() }

    private static func bytes(ofText text: [UInt8]) -> [UInt8]? {
        let digits = text[textPrefix.count...]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(AESGCM.keyByteCount)
        guard digits.count == 2 * AESGCM.keyByteCount else { return nil }
        for index in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }

    /// The salt of what a passphrase seals; nil for a random key, which needs none.
    ///
    /// Random at first. Takes that share one are opened after one derivation.
    package var salt: [UInt8]? {
        get {
            state.withLock { state in
                if case .scrypt(let salt, _) = state.derivation { salt } else { nil }
            }
        }
        set {
            guard let newValue, newValue.count == KeyDerivation.saltByteCount else { return }
            state.withLock { state in
                guard case .scrypt(_, let cost) = state.derivation else { return }
                state.derivation = .scrypt(salt: newValue, cost)
            }
        }
    }

    /// As `Box` says.
    package func seal(_ bytes: [UInt8], for context: [UInt8]) throws(SystemError) -> [UInt8] {
        let derivation = state.withLock { $0.derivation }
        return try Box(derivation).seal(bytes, under: try root(derivation), for: context)
    }

    package func open(_ box: [UInt8], for context: [UInt8]) throws(EncryptionError) -> [UInt8] {
        let parsed = try Box(of: box)
        guard isPassphrase == (parsed.derivation != .none) else { throw .wrongKey }
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try parsed.open(box, under: try root(parsed.derivation), for: context)
        } catch {
            throw .system(error)
        }
        guard let bytes else { throw .wrongKey }
        return bytes
    }

    /// The cipher of a body, whose key is made of this one and a seed.
    func cipher(seed: [UInt8], encrypts: Bool) throws(EncryptionError) -> AESGCM {
        guard !isPassphrase else { throw .wrongKey }
        do throws(SystemError) {
            var key = HKDF.derive(
                from: try root(.none), salt: seed, purpose: Array("utter body".utf8),
                byteCount: AESGCM.keyByteCount)
            defer { key.clear() }
            return try AESGCM(key: key.span, encrypts: encrypts)
        } catch {
            throw .system(error)
        }
    }

    private func root(_ derivation: KeyDerivation) throws(SystemError) -> [UInt8] {
        try state.withLock { state throws(SystemError) in try state.root(derivation) }
    }
}

extension [UInt8] {
    /// The corresponding C function is `getrandom`.
    package static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

/// Why a secret is not a key.
public enum KeyError: Error, Equatable {
    /// A passphrase has at least so many bytes.
    case tooShort(minimum: Int)
    /// It consists of a few bytes again and again.
    case guessable
    /// A passphrase repeats itself, or goes along the alphabet or rows of keys.
    case predictable
    /// It begins as a random key does, and is not one.
    case damaged
}

extension KeyError: CustomStringConvertible {
    /// The message: what is wrong, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .tooShort(let minimum): "a passphrase has at least \(minimum) bytes"
        case .guessable: "a key of so few different characters can be guessed"
        case .predictable:
            "a passphrase that repeats itself, or goes along the alphabet or the keys, can be guessed"
        case .damaged: "a part of the key is missing or mistyped"
        }
    }
}

package enum EncryptionError: Error, Equatable {
    case wrongKey
    case damaged
    case laterVersion(Int)
    /// A failing disk, or no memory.
    case system(SystemError)
}
