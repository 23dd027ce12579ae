// SPDX-License-Identifier: Apache-2.0

/// What the request of a step is made of, once words and captured values are known.
extension JobStep {
    /// Where the request goes.
    ///
    /// A value that is the beginning of the URL is one itself; every other is a part of a path or a
    /// query, and percent-encoded.
    ///
    /// - Parameters:
    ///   - service: the service's URL, of which the step's own may be a reference.
    ///   - value: the value of a name.
    /// - Returns: the URL, without the service's secrets.
    /// - Throws: `ServiceError` when it is none.
    package func target(
        from service: ServiceURL, _ value: (String) -> String?
    ) throws(ServiceError) -> ServiceURL {
        guard let url else { return service }
        var isBeginning = url.hasPrefix("{")
        let text = WordTemplate(url).filled { name in
            defer { isBeginning = false }
            let value = value(name) ?? ""
            return isBeginning ? value : ServiceURL.percentEncoded(value)
        }
        return try service.resolving(location: text)
    }

    /// The fields of the request, of those that have a value.
    package func fields(_ value: (String) -> String?) throws(ServiceError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for header in headers {
            let text = header.filled { value($0) ?? "" }.value
            if !text.isEmpty { fields.append(try HeaderField(name: header.name, value: text)) }
        }
        return fields
    }

    /// The JSON document that it carries, without what has no value; nil when it carries none.
    package func json(by values: [String: String]) -> [UInt8]? {
        guard case .json(let template) = content else { return nil }
        return Array((WordJSON.filled(template, by: values) ?? "{}").utf8)
    }

    package func isLed(by values: [String: String]) -> Bool {
        WordTemplate(url ?? "").words.contains { values[$0] != nil }
    }
}
