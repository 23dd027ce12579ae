// SPDX-License-Identifier: Apache-2.0

// Fields of a head are lines, as they are on the wire; what is nil is left out.

extension Cassette: Codable {
    private enum Key: String, CodingKey {
        case version, title, source, recorded, request, response, ending
    }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        let version = try object.decode(Int.self, forKey: .version)
        guard version == Cassette.version else { throw CassetteError.otherVersion(version) }
        self.init(
            try object.decode(Request.self, forKey: .request),
            try object.decodeIfPresent(Response.self, forKey: .response))
        title = try object.decodeIfPresent(String.self, forKey: .title)
        source = try object.decodeIfPresent(String.self, forKey: .source)
        recorded = try object.decodeIfPresent(String.self, forKey: .recorded)
        ending = try object.decodeIfPresent(String.self, forKey: .ending)
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(Cassette.version, forKey: .version)
        try object.encodeIfPresent(title, forKey: .title)
        try object.encodeIfPresent(source, forKey: .source)
        try object.encodeIfPresent(recorded, forKey: .recorded)
        try object.encode(request, forKey: .request)
        try object.encodeIfPresent(response, forKey: .response)
        try object.encodeIfPresent(ending, forKey: .ending)
    }
}

extension Cassette.Request: Codable {
    private enum Key: String, CodingKey { case method, url, headers, body }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(
            method: try object.decodeIfPresent(String.self, forKey: .method) ?? "POST",
            url: try object.decode(String.self, forKey: .url))
        headers = try object.decodeIfPresent([CassetteField].self, forKey: .headers) ?? []
        body = try object.decodeIfPresent(Cassette.Body.self, forKey: .body)
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(method, forKey: .method)
        try object.encode(url, forKey: .url)
        try object.encode(headers, forKey: .headers)
        try object.encodeIfPresent(body, forKey: .body)
    }
}

extension Cassette.Response: Codable {
    private enum Key: String, CodingKey { case status, headers, ms, after, body }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self.init(status: try object.decode(Int.self, forKey: .status))
        guard (200...599).contains(status) else {
            throw CassetteError.unreadable(reason: "'status' must be from 200 to 599")
        }
        headers = try object.decodeIfPresent([CassetteField].self, forKey: .headers) ?? []
        ms = try object.decodeIfPresent(Double.self, forKey: .ms)
        after = try object.decodeIfPresent(Int.self, forKey: .after)
        body = try object.decodeIfPresent([CassettePiece].self, forKey: .body) ?? []
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(status, forKey: .status)
        try object.encode(headers, forKey: .headers)
        try object.encodeIfPresent(ms, forKey: .ms)
        try object.encodeIfPresent(after, forKey: .after)
        try object.encode(body, forKey: .body)
    }
}
