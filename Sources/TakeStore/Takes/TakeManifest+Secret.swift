// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import LinuxPlatform

/// The part of the manifest of an encrypted take that nobody may read without the key.
private struct SecretPart: Codable {
    var source: String
    var delivery: DeliveryRecord?
    var history: [TransferRecord]?
    var reason: String?
    var transcript: String?
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
            source: source, delivery: delivery, history: history, reason: reason,
            transcript: transcript)
        let box = try key.seal(Array(try JSONEncoder().encode(part)), for: boxContext)
        secret = Data(key.identifier + box)
        (source, delivery, history, reason, transcript) = ("", nil, nil, nil, nil)
    }

    /// Takes it out again.
    ///
    /// - Returns: false when the box was altered; with another key the manifest stays locked.
    mutating func unlock(with key: EncryptionKey) throws(SystemError) -> Bool {
        guard let bytes = secret.map({ Array($0) }),
            bytes.starts(with: key.identifier)
        else { return true }
        let box = Array(bytes.dropFirst(EncryptionKey.identifierByteCount))
        guard let content = try key.open(box, for: boxContext),
            // What we have sealed can be read, unless a later program has sealed it.
            let part = try? JSONDecoder().decode(SecretPart.self, from: Data(content))
        else { return false }
        (source, delivery, history) = (part.source, part.delivery, part.history)
        (reason, transcript) = (part.reason, part.transcript)
        secret = nil
        return true
    }

    /// A box opens only in the manifest of its own take.
    private var boxContext: [UInt8] { Array("take.json \(id.text)".utf8) }

    /// The same for the file of a long transcript.
    var transcriptContext: [UInt8] { Array("transcript \(id.text)".utf8) }
}
