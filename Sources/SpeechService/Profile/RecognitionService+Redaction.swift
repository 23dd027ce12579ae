// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

extension RecognitionService {
    /// The text without the service's secrets, which some services repeat in what they say.
    package func redacted(_ text: String) -> String {
        var text = text
        for secret in credentials.flatMap(\.spellings) where !secret.isEmpty {
            text = text.replacing(secret, with: "…")
        }
        return text
    }

    /// The bytes of an answer without the service's secrets; as they are when they hold none.
    package func redacted(_ bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        let clean = redacted(text)
        return clean == text ? bytes : Array(clean.utf8)
    }

    /// The error with redacted words.
    package func redacted(_ error: AnswerError) -> AnswerError {
        switch error {
        case .notJSON(let offset, let excerpt):
            .notJSON(offset: offset, excerpt: redacted(excerpt))
        case .missingText(let path, let excerpt, let places):
            .missingText(path: path, excerpt: redacted(excerpt), places: places)
        case .noFinal(let partial): .noFinal(partial: redacted(partial))
        case .serviceReported(let message, let code):
            .serviceReported(message: redacted(message), code: code.map { redacted($0) })
        case .webPage(let title): .webPage(title: title.map { redacted($0) })
        case .unsupportedMediaType(let type): .unsupportedMediaType(redacted(type))
        case .empty, .truncated, .tooDeep, .tooLarge, .tooManyValues, .notText, .undecodable: error
        }
    }
}

extension Credential {
    /// The ways in which the secret may stand in a text, the longest first.
    fileprivate var spellings: [String] {
        var all = [value]
        // Without the scheme, and as a query has it.
        if let space = value.lastIndex(of: " ") { all.append(String(value[space...].dropFirst())) }
        // A name and a key in one.
        if case .part = place, let colon = value.firstIndex(of: ":") {
            all.append(String(value[colon...].dropFirst()))
        }
        all += all.map(ServiceURL.percentEncoded)
        if case .part = place { all.append(Data(value.utf8).base64EncodedString()) }
        return all.sorted { $0.count > $1.count }
    }
}
