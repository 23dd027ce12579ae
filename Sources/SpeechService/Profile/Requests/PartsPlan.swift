// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// How a service takes a recording in numbered parts, in any order, and joins them at the end.
///
/// In the texts of a step `{name}` stands for a word, for what `create` has captured, or for
/// `{number}`, `{tag}` and `{parts}`; `{digest}` is that of the whole recording, and empty while it
/// is not known; `{folder}` is the URL of a folder that `folder` makes. A service that takes only whole recordings has no more than
/// `whole`.
package struct PartsPlan: Sendable, Hashable {
    /// Sends the whole recording, when that has at most `smallest` bytes.
    package let whole: JobStep?
    /// Makes a folder of the recording's place, when the place has none: status 409 of `whole`.
    package let folder: JobStep?
    package let create: JobStep?
    /// Sends a part; what it captures as `tag` is said of the part at the end.
    package let part: JobStep?
    package let complete: JobStep?
    /// Asks for what the service has, when it may be this recording.
    package let look: JobStep?
    package let abort: JobStep?
    /// Asks for the uploads in a folder, `{prefix}`, that were begun and not ended; `{root}` is where
    /// all objects lie.
    package let list: JobStep?
    /// In bytes; only the last part may have fewer.
    package internal(set) var smallest = 5 << 20
    package internal(set) var largest = 64 << 20
    /// The most parts of an upload.
    package internal(set) var count = 10_000
    /// The most requests at once.
    package private(set) var parallel = 4
    /// The text that stands for each part in `{parts}`.
    var each = ""
    var between = ""

    package var steps: [JobStep] {
        [whole, folder, create, part, complete, look, abort].compactMap { $0 }
    }

    private static let ownNames = ["number", "tag", "parts", "digest", "folder", "root", "prefix"]

    /// The words that nothing here gives a value.
    var words: [String] {
        let own = Set(Self.ownNames + steps.flatMap { $0.captures.map(\.name) })
        return ((steps + [list].compactMap { $0 }).flatMap(\.names) + WordTemplate(each).words)
            .filter { !own.contains($0) }
    }

    /// The list of parts in the request that joins them, by the tags from number 1 on.
    package func list(of tags: [String]) -> String {
        let template = WordTemplate(each)
        let isMarkup = each.hasPrefix("<")
        return tags.enumerated().map { index, tag in
            template.filled { name in
                switch name {
                case "number": "\(index + 1)"
                case "tag":
                    isMarkup
                        ? XMLElement.escaped(tag)
                        : String(JSONText.quoted(tag).dropFirst().dropLast())
                default: nil
                }
            }
        }.joined(separator: between)
    }
}

extension PartsPlan {
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        whole = try Self.step("whole", .put, sendsRecording: true, &reader)
        folder = try Self.step("folder", .mkcol, &reader)
        create = try Self.step("create", .post, &reader)
        part = try Self.step("part", .put, sendsRecording: true, &reader)
        complete = try Self.step("complete", .post, &reader)
        look = try Self.step("look", .head, &reader)
        abort = try Self.step("abort", .delete, &reader)
        list = try Self.step("list", .get, &reader)
        smallest = try Self.count("smallest", 5 << 30, &reader) ?? smallest
        largest = try Self.largest(&reader) ?? max(smallest, largest)
        count = try Self.count("count", 1_000_000, &reader) ?? count
        parallel = try Self.parallel(&reader) ?? parallel
        each = try reader.string("each") ?? ""
        between = try reader.string("between") ?? ""
        guard (part == nil) == (complete == nil), create == nil || part != nil,
            part != nil || whole != nil
        else {
            throw SettingsError(
                "'\(reader.path("kind"))': parts need 'part' and 'complete', a whole 'whole'")
        }
        guard largest >= smallest else {
            throw reader.error("largest", " is below 'smallest', \(smallest)")
        }
    }

    static func parallel(_ reader: inout SettingsReader) throws(SettingsError) -> Int? {
        try count("parallel", 4, &reader)
    }

    static func largest(_ reader: inout SettingsReader) throws(SettingsError) -> Int? {
        try count("largest", 5 << 30, &reader)
    }

    private static func count(
        _ name: String, _ most: Int, _ reader: inout SettingsReader
    ) throws(SettingsError) -> Int? {
        guard let count = try reader.integer(name) else { return nil }
        guard (1...most).contains(count) else {
            throw reader.error(name, " is not between 1 and \(most)")
        }
        return count
    }

    private static func step(
        _ name: String, _ method: StepMethod, sendsRecording: Bool = false,
        _ reader: inout SettingsReader
    ) throws(SettingsError) -> JobStep? {
        guard var table = try reader.table(name) else { return nil }
        var step = try JobStep(&table, number: 0, method: method)
        try table.finish()
        step.name = name
        if sendsRecording { step.content = .recording }
        return step
    }
}
