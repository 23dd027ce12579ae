// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import SpeechService

extension RecognitionService {
    /// The head says the digest of a body that is there.
    var signsBodies: Bool {
        if case .amazonSignature = authentication.use { true } else { false }
    }

    /// Adds version 4 of Amazon's signatures (AWS4-HMAC-SHA256) over the head, where it is wanted.
    ///
    /// The digest is the body's SHA-256 in hexadecimal digits: that of a part of a recording. A body
    /// that is sent while it is being made is not signed.
    func signed(
        _ headers: [(name: String, value: String)], method: String, url: ServiceURL,
        digest: String? = nil, at now: Date = Date()
    ) -> [(name: String, value: String)] {
        guard case .amazonSignature(let region, let service) = authentication.use,
            let secrets = ClientSecrets(of: self)
        else { return headers }
        let time = AmazonSignature.time(now)
        let bodyDigest = digest ?? "UNSIGNED-PAYLOAD"
        var added = [
            (name: "X-Amz-Date", value: time),
            (name: "X-Amz-Content-SHA256", value: bodyDigest),
        ]
        if let session = secrets.session {
            added.append((name: "X-Amz-Security-Token", value: session))
        }
        // Fields that a proxy may change are not signed.
        let names = ["content-type", "x-amz-", "x-lex-"]
        let own = headers.filter { header in
            names.contains { header.name.lowercased().hasPrefix($0) }
        }
        let host = url.origin.description.dropFirst("\(url.origin.scheme)://".count)
        var fields = ["host": String(host)]
        for (name, value) in own + added {
            let value = value.split(separator: " ").joined(separator: " ")
            let name = name.lowercased()
            fields[name] = fields[name].map { "\($0),\(value)" } ?? value
        }
        let sorted = fields.sorted { $0.key < $1.key }
        let signedNames = sorted.map(\.key).joined(separator: ";")
        let (path, query) = AmazonSignature.canonical(url.target, encodesOnce: service == "s3")
        let request = [
            method, path, query, sorted.map { "\($0.key):\($0.value)\n" }.joined(), signedNames,
            bodyDigest,
        ].joined(separator: "\n")
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let algorithm = "AWS4-HMAC-SHA256"
        let text = [algorithm, time, scope, SHA256.hexadecimal(of: request)]
            .joined(separator: "\n")
        var key = Array("AWS4\(secrets.key)".utf8)
        for word in [day, region, service, "aws4_request"] {
            key = HMACSHA256.digest(key: key, Array(word.utf8))
        }
        let signature = HMACSHA256.digest(key: key, Array(text.utf8)).hexadecimal
        let authorization =
            "\(algorithm) Credential=\(secrets.user)/\(scope), "
            + "SignedHeaders=\(signedNames), Signature=\(signature)"
        return headers + added + [(name: "Authorization", value: authorization)]
    }
}

private enum AmazonSignature {
    /// ISO 8601's basic form, such as `20150830T123600Z`.
    static func time(_ date: Date) -> String {
        let style = Date.ISO8601FormatStyle(
            dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted)
        return date.formatted(style)
    }

    /// The path, encoded twice as all services but S3 want it, and the sorted query.
    static func canonical(
        _ target: String, encodesOnce: Bool
    ) -> (path: String, query: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false)
            .map { ServiceURL.percentEncoded(String($0), keeping: encodesOnce ? "%" : "") }
            .joined(separator: "/")
        guard parts.count > 1 else { return (path, "") }
        let parameters = parts[1].split(separator: "&").map { parameter -> String in
            let words = parameter.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return "\(words[0])=\(words.count > 1 ? String(words[1]) : "")"
        }
        return (path, parameters.sorted().joined(separator: "&"))
    }
}
