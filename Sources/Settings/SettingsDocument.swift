// SPDX-License-Identifier: Apache-2.0

internal import CTOML

/// Reads TOML 1.0, with the place of everything in it.
package enum SettingsDocument {
    /// In bytes: no person writes a longer file of settings.
    package static let byteLimit = 1 << 20

    package static func parse(
        _ text: String, file: String? = nil
    ) throws(SettingsError) -> SettingsTable {
        guard text.utf8.count <= byteLimit else {
            throw SettingsError("it is longer than \(byteLimit >> 20) MiB")
        }
        let builder = DocumentBuilder(file: file)
        var reader = DocumentBuilder.reader
        let bytes = Array(text.utf8)
        try NestingCheck.check(bytes)
        let isRead = unsafe bytes.withUnsafeBytes { bytes in
            unsafe utter_toml_read(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, &reader,
                Unmanaged.passUnretained(builder).toOpaque())
        }
        if let error = builder.error { throw error }
        guard isRead else { throw SettingsError("it is not valid TOML") }
        return builder.table
    }
}

private final class DocumentBuilder {
    fileprivate struct Open {
        var name: String?
        var namePlace, place: SettingsPosition
        var isArray: Bool
        var members: [SettingsTable.Member] = []
    }

    private let file: String?
    fileprivate var error: SettingsError? {
        didSet { if error?.place?.file != file { error?.place?.file = file } }
    }
    fileprivate var open = [
        Open(
            namePlace: SettingsPosition(line: 1, column: 1),
            place: SettingsPosition(line: 1, column: 1), isArray: false)
    ]

    fileprivate init(file: String?) { self.file = file }

    var table: SettingsTable { Self.table(open[0].members) }

    /// toml++ sorts by name; a person reads from the top.
    private static func table(_ members: [SettingsTable.Member]) -> SettingsTable {
        SettingsTable(members.sorted { $0.place < $1.place })
    }

    fileprivate func add(
        _ name: String?, _ namePlace: SettingsPosition, _ place: SettingsPosition,
        _ value: SettingsValue
    ) {
        var (namePlace, place) = (namePlace, place)
        (namePlace.file, place.file) = (file, file)
        open[open.count - 1].members.append(
            SettingsTable.Member(
                name: name ?? "", place: namePlace,
                node: SettingsNode(value: value, place: place)))
    }

    fileprivate func end() {
        let done = open.removeLast()
        let value: SettingsValue =
            done.isArray ? .array(done.members.map(\.node)) : .table(Self.table(done.members))
        add(done.name, done.namePlace, done.place, value)
    }

    // MARK: - C

    /// The context of each callback is the builder.
    static var reader: utter_toml_reader {
        unsafe utter_toml_reader(
            begin: { context, name, length, namePlace, place, isArray in
                let name = unsafe text(name, length)
                unsafe builder(context)?.open.append(
                    Open(
                        name: name, namePlace: SettingsPosition(namePlace),
                        place: SettingsPosition(place), isArray: isArray))
            },
            end: { context in unsafe builder(context)?.end() },
            string: { context, name, length, namePlace, place, start, count in
                let value = SettingsValue.string(unsafe text(start, count) ?? "")
                unsafe tell(context, name, length, namePlace, place, value)
            },
            integer: { context, name, length, namePlace, place, number in
                unsafe tell(context, name, length, namePlace, place, .integer(Int(number)))
            },
            floating: { context, name, length, namePlace, place, number in
                unsafe tell(context, name, length, namePlace, place, .number(number))
            },
            boolean: { context, name, length, namePlace, place, flag in
                unsafe tell(context, name, length, namePlace, place, .flag(flag))
            },
            other: { context, name, length, namePlace, place in
                unsafe tell(context, name, length, namePlace, place, .date)
            },
            fault: { context, place, start, count in
                let reason = unsafe text(start, count) ?? ""
                unsafe builder(context)?.error = SettingsError(
                    "it is not valid TOML: \(reason)" + advice(on: reason),
                    at: SettingsPosition(place))
            })
    }
}

/// Advice on a bare word, which toml++ takes for half a number, date or `true`.
private func advice(on reason: String) -> String {
    let isBareWord =
        reason.contains("could not determine value type") || reason.contains("parsing boolean")
    return isBareWord ? "; a text stands between quotation marks" : ""
}

private func builder(_ context: UnsafeMutableRawPointer?) -> DocumentBuilder? {
    unsafe context.map { unsafe Unmanaged<DocumentBuilder>.fromOpaque($0).takeUnretainedValue() }
}

private func tell(
    _ context: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?, _ length: Int,
    _ namePlace: utter_toml_place, _ place: utter_toml_place, _ value: SettingsValue
) {
    unsafe builder(context)?.add(
        text(name, length), SettingsPosition(namePlace), SettingsPosition(place), value)
}

private func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String? {
    guard let start = unsafe start else { return nil }
    return unsafe String(
        decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
}

extension SettingsPosition {
    fileprivate init(_ place: utter_toml_place) {
        self.init(line: Int(place.line), column: Int(place.column))
    }
}
