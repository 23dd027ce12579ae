// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import SpeechService

extension RecognitionService {
    /// The fields of a request with those that sign it.
    ///
    /// - Parameters:
    ///   - headers: the fields; those of the signature are added.
    ///   - method: the request's method.
    ///   - url: where it goes.
    ///   - now: the time.
    ///   - id: a number of its own.
    /// - Returns: the fields as they are sent.
    func signed(
        _ headers: [(name: String, value: String)], method: String, url: ServiceURL,
        at now: Date = Date(), id: String = UUID().uuidString.lowercased()
    ) -> [(name: String, value: String)] {
        guard case .signature(let signature) = authentication.use,
            let secrets = ClientSecrets(of: self)
        else { return headers }
        switch signature {
        case .hmac(let signature):
            return headers + signature.fields(by: secrets, at: now, id: id)
        case .awsV4(let region, let service):
            let signer = AmazonSignature(region: region, service: service, secrets: secrets)
            return signer.signed(headers, method: method, url: url, at: now)
        }
    }
}

extension TextSignature {
    func fields(
        by secrets: ClientSecrets, at now: Date, id: String
    ) -> [(name: String, value: String)] {
        var values = [
            "user": secrets.user, "request": id, "time": "\(Int(now.timeIntervalSince1970))",
        ]
        let text = WordTemplate(message).filled { values[$0] }
        values["signature"] = coding.written(
            HMACSHA256.digest(key: keyCoding.read(secrets.key), Array(text.utf8)))
        return headers.map { ($0.name, WordTemplate($0.value).filled { values[$0] }) }
    }
}

extension TextSignature.Coding {
    fileprivate func written(_ bytes: [UInt8]) -> String {
        switch self {
        case .plain: String(decoding: bytes, as: UTF8.self)
        case .base64: Data(bytes).base64EncodedString()
        case .base64url:
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        case .hex: Hexadecimal.text(of: bytes)
        }
    }

    /// The bytes of a text; of one that is not written so, its own.
    fileprivate func read(_ text: String) -> [UInt8] {
        switch self {
        case .plain: return Array(text.utf8)
        case .base64, .base64url:
            let usual = text.replacing("-", with: "+").replacing("_", with: "/")
            let whole = usual + String(repeating: "=", count: (4 - usual.count % 4) % 4)
            return Data(base64Encoded: whole).map(Array.init) ?? Array(text.utf8)
        case .hex: return Hexadecimal.bytes(of: text) ?? Array(text.utf8)
        }
    }
}

/// Bytes in hexadecimal digits.
enum Hexadecimal {
    static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }

    static func bytes(of text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
