// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials

/// The part of the manifest of an encrypted take that cannot be read without the key.
private struct SecretPart: Codable {
    var source: String
    var delivery: DeliveryRecord?
    var history: [TransferRecord]?
    var progress: ExchangeProgress?
    var reason: String?
    var transcript: String?
    /// It would tell whether a known recording is the same.
    var sha256: String?
    /// So would this.
    var file: SentFile?
}

extension TakeManifest {
    /// Whether the take's audio is encrypted, and with it what says something of its content.
    package var isEncrypted: Bool { audio.hasSuffix(TakeFolder.encryptedSuffix) }

    /// Whether its encrypted part could not be read, for want of the right key.
    package var isLocked: Bool { secret != nil }

    /// Puts what a person has said, and what was said about it, into a box.
    ///
    /// A manifest that is locked stays as it is.
    mutating func lock(with key: EncryptionKey) throws {
        guard !isLocked else { return }
        let part = SecretPart(
            source: source, delivery: delivery, history: history, progress: progress,
            reason: reason, transcript: transcript, sha256: sha256, file: file)
        secret = Data(try key.seal(Array(try JSONEncoder().encode(part)), for: boxContext))
        (source, delivery, history, reason, transcript) = ("", nil, nil, nil, nil)
        (sha256, progress, file) = (nil, nil, nil)
    }

    /// Takes it out again.
    ///
    /// - Throws: `EncryptionError`; the manifest stays locked.
    mutating func unlock(with key: EncryptionKey) throws(EncryptionError) {
        guard let bytes = secret.map({ Array($0) }) else { return }
        let content = try key.open(bytes, for: boxContext)
        // What we have sealed can be read, unless a later program has sealed it.
        guard let part = try? JSONDecoder().decode(SecretPart.self, from: Data(content))
        else { throw .damaged }
        (source, delivery, history) = (part.source, part.delivery, part.history)
        progress = part.progress
        (reason, transcript) = (part.reason, part.transcript)
        sha256 = part.sha256
        file = part.file
        secret = nil
    }

    /// A box opens only in the manifest of its own take.
    private var boxContext: [UInt8] { Array("take.json \(id.text)".utf8) }
}
