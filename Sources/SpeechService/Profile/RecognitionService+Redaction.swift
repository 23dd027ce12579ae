// SPDX-License-Identifier: Apache-2.0

extension RecognitionService {
    /// What takes the service's secrets out of a text; some services repeat them in what they say.
    package var redaction: Redaction { Redaction(credentials.flatMap(\.secrets)) }

    /// The text without the service's secrets.
    package func redacted(_ text: String) -> String { redaction.redacted(text) }

    /// The bytes of an answer without the service's secrets; as they are when they hold none.
    package func redacted(_ bytes: [UInt8]) -> [UInt8] { redaction.redacted(bytes) }

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
