// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// One object of a listing.
package struct ListedObject: Sendable, Equatable {
    package var key: String
    package var byteCount: Int
    /// With its quotation marks, as the store writes it.
    package var tag: String
    /// ISO 8601, as the store writes it.
    package var modified: String
}

/// A page of a listing, as `ListObjectsV2` answers it.
package struct ListingPage: Sendable, Equatable {
    package var objects: [ListedObject]
    package var isLast: Bool

    /// Reads an answer; nil for a document of another kind.
    package init?(_ document: [UInt8]) {
        let text = String(decoding: document, as: UTF8.self)
        guard text.contains("<ListBucketResult"), text.contains("</ListBucketResult>") else {
            return nil
        }
        isLast = Self.first("IsTruncated", in: text[...]) != "true"
        objects = []
        var rest = text[...]
        while let start = rest.firstRange(of: "<Contents>"),
            let end = rest[start.upperBound...].firstRange(of: "</Contents>")
        {
            let entry = rest[start.upperBound..<end.lowerBound]
            rest = rest[end.upperBound...]
            guard let key = Self.first("Key", in: entry), !key.isEmpty else { continue }
            objects.append(
                ListedObject(
                    key: key, byteCount: Self.first("Size", in: entry).flatMap { Int($0) } ?? 0,
                    tag: Self.first("ETag", in: entry) ?? "",
                    modified: Self.first("LastModified", in: entry) ?? ""))
        }
    }

    private static func first(_ name: String, in text: Substring) -> String? {
        guard let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        return XMLElement.plain(text[start.upperBound..<end.lowerBound])
    }
}
