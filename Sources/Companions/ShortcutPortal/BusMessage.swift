// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// A message of D-Bus; belongs to the thread of its `Bus`.
@safe final class BusMessage {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { _ = unsafe sd_bus_message_unref(pointer) }

    var path: String { unsafe text(sd_bus_message_get_path(pointer)) }

    /// Such as "org.freedesktop.portal.Session.Closed"; empty for an answer.
    var name: String {
        let interface = unsafe text(sd_bus_message_get_interface(pointer))
        let member = unsafe text(sd_bus_message_get_member(pointer))
        return interface + "." + member
    }

    var sender: String { unsafe text(sd_bus_message_get_sender(pointer)) }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    // MARK: - Writing

    func append(_ values: [BusValue]) throws(BusError) {
        for value in values { try append(value) }
    }

    private func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .string(let text): try append(text, as: "s")
        case .path(let text): try append(text, as: "o")
        case .unsigned(var number): try unsafe append(&number, as: "u")
        case .long(var number): try unsafe append(&number, as: "t")
        case .bool(let isTrue):
            var number: Int32 = isTrue ? 1 : 0
            try unsafe append(&number, as: "b")
        case .variant(let inner): try container("v", inner.signature, [inner])
        case .structure(let members):
            try container("r", String(value.signature.dropFirst().dropLast()), members)
        case .array(let members, let type): try container("a", type, members)
        case .options(let options):
            try open("a", "{sv}")
            for (name, option) in options.sorted(by: { $0.key < $1.key }) {
                try container("e", "sv", [.string(name), .variant(option)])
            }
            try close()
        case .other: break
        }
    }

    private func append(_ text: String, as type: Character) throws(BusError) {
        try check(
            unsafe text.withCString {
                unsafe sd_bus_message_append_basic(pointer, Self.code(type), $0)
            })
    }

    private func append(_ number: UnsafeRawPointer, as type: Character) throws(BusError) {
        try check(unsafe sd_bus_message_append_basic(pointer, Self.code(type), number))
    }

    private func container(
        _ type: Character, _ contents: String, _ members: [BusValue]
    ) throws(BusError) {
        try open(type, contents)
        try append(members)
        try close()
    }

    private func open(_ type: Character, _ contents: String) throws(BusError) {
        try check(unsafe sd_bus_message_open_container(pointer, Self.code(type), contents))
    }

    private func close() throws(BusError) {
        try check(unsafe sd_bus_message_close_container(pointer))
    }

    // MARK: - Reading

    /// The values that have not been read yet; a broken one ends them.
    func values() -> [BusValue] {
        var values: [BusValue] = []
        while let value = next() { values.append(value) }
        return values
    }

    private func next() -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_peek_type(pointer, &type, &contents) > 0 else { return nil }
        let inner = unsafe text(contents)
        switch Character(UnicodeScalar(UInt8(bitPattern: type))) {
        case "s": return string("s").map { .string($0) }
        case "o": return string("o").map { .path($0) }
        case "u": return number(type, UInt32(0)).map { .unsigned($0) }
        case "t": return number(type, UInt64(0)).map { .long($0) }
        case "b": return number(type, Int32(0)).map { .bool($0 != 0) }
        case "v": return inside("v", inner)?.first.map { .variant($0) }
        case "r": return inside("r", inner).map { .structure($0) }
        case "e": return inside("e", inner).map { .structure($0) }
        case "a":
            guard let members = inside("a", inner) else { return nil }
            return inner == "{sv}" ? .options(Self.options(members)) : .array(members, of: inner)
        default:
            // Over it.
            return unsafe sd_bus_message_skip(pointer, nil) > 0 ? .other : nil
        }
    }

    private func number<Number: FixedWidthInteger>(_ type: CChar, _ zero: Number) -> Number? {
        var number = zero
        return unsafe sd_bus_message_read_basic(pointer, type, &number) > 0 ? number : nil
    }

    private func string(_ type: Character) -> String? {
        var text: UnsafePointer<CChar>?
        let code = unsafe sd_bus_message_read_basic(pointer, Self.code(type), &text)
        return unsafe code > 0 ? self.text(text) : nil
    }

    private func inside(_ type: Character, _ contents: String) -> [BusValue]? {
        let code = unsafe sd_bus_message_enter_container(pointer, Self.code(type), contents)
        guard code > 0 else { return nil }
        let values = values()
        return unsafe sd_bus_message_exit_container(pointer) >= 0 ? values : nil
    }

    private static func options(_ entries: [BusValue]) -> [String: BusValue] {
        var options: [String: BusValue] = [:]
        for case .structure(let pair) in entries where pair.count == 2 {
            if let name = pair[0].text, case .variant(let value) = pair[1] { options[name] = value }
        }
        return options
    }

    private func check(_ code: Int32) throws(BusError) {
        if code < 0 { throw BusError(code, "write a message") }
    }

    private static func code(_ type: Character) -> CChar {
        CChar(bitPattern: type.asciiValue ?? 0)
    }
}
