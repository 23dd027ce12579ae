// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// What the environment says of the service: `UTTER_URL`, and `UTTER_TOKEN`, which belongs to it.
enum ServiceVariables {
    static let urlName = "UTTER_URL"
    static let tokenName = "UTTER_TOKEN"

    /// The URL as it is written; nil when it is not set, or empty.
    static var url: String? { value(urlName) }

    /// The token; nil when it is not set, or empty.
    static var token: String? { value(tokenName) }

    /// The origin that the variables describe: the token belongs to no other.
    ///
    /// Nil without a URL: the token then belongs to whatever service is named otherwise. A URL that
    /// cannot be read has no origin, and the token goes nowhere.
    static var origin: Result<Origin, ServiceError>? {
        url.map { text in
            Result { () throws(ServiceError) in
                try ServiceURL(TokenMark(in: text).url).origin
            }
        }
    }

    /// Whether the token may be sent there.
    static func tokenBelongs(to other: Origin) -> Bool {
        switch origin {
        case nil: true
        case .success(let origin)?: origin == other
        case .failure?: false
        }
    }

    private static func value(_ name: String) -> String? {
        Environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The mark `{token}` as the value of a parameter in a URL's query.
struct TokenMark {
    private static let mark = "={token}"

    /// The URL without the mark: the parameter has no value.
    let url: String
    /// The name of the parameter; nil without a mark.
    let parameter: String?

    init(in text: String) {
        guard let query = text.firstIndex(of: "?") else {
            (url, parameter) = (text, nil)
            return
        }
        var found: String?
        let parameters = text[text.index(after: query)...]
            .split(separator: "&", omittingEmptySubsequences: false).map { parameter in
                guard found == nil, parameter.hasSuffix(Self.mark) else { return parameter }
                let name = parameter.dropLast(Self.mark.count)
                found = String(name)
                return parameter[..<parameter.index(after: name.endIndex)]
            }
        (url, parameter) = (text[...query] + parameters.joined(separator: "&"), found)
    }
}
