// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc
internal import LinuxPlatform

/// A connection to D-Bus; used by one thread, which it blocks.
@safe final class Bus {
    private let bus: OpaquePointer

    /// For the answer to a call.
    private static let patience = Duration.seconds(25)

    /// Connects to a bus; nil: that of the person's session.
    init(address: String? = nil) throws(BusError) {
        var bus: OpaquePointer?
        var code: Int32
        if let address {
            code = unsafe sd_bus_new(&bus)
            if code >= 0 { code = unsafe sd_bus_set_address(bus, address) }
            if code >= 0 { code = unsafe sd_bus_set_bus_client(bus, 1) }
            if code >= 0 { code = unsafe sd_bus_start(bus) }
        } else {
            code = unsafe sd_bus_open_user(&bus)
        }
        guard code >= 0, let bus = unsafe bus else {
            unsafe sd_bus_unref(bus)
            throw BusError(code, "connect to the session's bus")
        }
        unsafe self.bus = bus
    }

    deinit { unsafe sd_bus_flush_close_unref(bus) }

    func listen(to rule: String) throws(BusError) {
        let code = unsafe sd_bus_add_match(bus, nil, rule, nil, nil)
        if code < 0 { throw BusError(code, "listen to \(rule)") }
    }

    func take(name: String) throws(BusError) {
        let code = unsafe sd_bus_request_name(bus, name, 0)
        if code < 0 { throw BusError(code, "take the name \(name)") }
    }

    /// Blocks until the answer; a method is named like "org.freedesktop.DBus.Properties.Get".
    func call(
        _ method: String, of destination: String, at path: String, _ values: [BusValue]
    ) throws(BusError) -> [BusValue] {
        let (interface, member) = Self.split(method)
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_call(
            bus, &made, destination, path, interface, member)
        let message = try unsafe Self.message(code, made)
        try message.append(values)
        var error = unsafe sd_bus_error(name: nil, message: nil, _need_free: 0)
        defer { unsafe sd_bus_error_free(&error) }
        var answer: OpaquePointer?
        let microseconds = UInt64(Self.patience / .microseconds(1))
        let sent = unsafe sd_bus_call(bus, message.pointer, microseconds, &error, &answer)
        guard sent >= 0, let answer = unsafe answer else {
            guard let name = unsafe error.name else { throw BusError(sent, "call \(method)") }
            let text = unsafe error.message.map { unsafe String(cString: $0) } ?? ""
            throw BusError(name: unsafe String(cString: name), message: text)
        }
        return unsafe BusMessage(taking: answer).values()
    }

    /// Without answers to calls; nil at the deadline.
    func next(by deadline: ContinuousClock.Instant?) throws(BusError) -> BusMessage? {
        while true {
            var message: OpaquePointer?
            let code = unsafe sd_bus_process(bus, &message)
            guard code >= 0 else { throw BusError(code, "read from the bus") }
            if let message = unsafe message { return unsafe BusMessage(taking: message) }
            if code > 0 { continue }
            var limit = UInt64.max
            if let deadline {
                guard deadline > .now else { return nil }
                limit = UInt64((deadline - .now) / .microseconds(1)) + 1
            }
            let waited = unsafe sd_bus_wait(bus, limit)
            guard waited >= 0 || waited == -EINTR else {
                throw BusError(waited, "wait for the bus")
            }
        }
    }

    // MARK: - For a program that answers

    func answer(_ call: BusMessage, _ values: [BusValue]) throws(BusError) {
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_return(call.pointer, &made)
        try send(try unsafe Self.message(code, made), values)
    }

    func refuse(_ call: BusMessage, _ name: String, _ text: String) throws(BusError) {
        var error = unsafe sd_bus_error(name: nil, message: nil, _need_free: 0)
        defer { unsafe sd_bus_error_free(&error) }
        _ = unsafe sd_bus_error_set(&error, name, text)
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_error(call.pointer, &made, &error)
        try send(try unsafe Self.message(code, made), [])
    }

    func signal(
        _ signal: String, from path: String, _ values: [BusValue]
    ) throws(BusError) {
        let (interface, member) = Self.split(signal)
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_signal(bus, &made, path, interface, member)
        try send(try unsafe Self.message(code, made), values)
    }

    private func send(_ message: BusMessage, _ values: [BusValue]) throws(BusError) {
        try message.append(values)
        let code = unsafe sd_bus_send(bus, message.pointer, nil)
        if code < 0 { throw BusError(code, "write to the bus") }
        _ = unsafe sd_bus_flush(bus)
    }

    private static func message(
        _ code: Int32, _ pointer: OpaquePointer?
    ) throws(BusError) -> BusMessage {
        guard code >= 0, let pointer = unsafe pointer else {
            throw BusError(code, "make a message")
        }
        return unsafe BusMessage(taking: pointer)
    }

    private static func split(_ name: String) -> (String, String) {
        let dot = name.lastIndex(of: ".") ?? name.startIndex
        return (String(name[..<dot]), String(name[dot...].dropFirst()))
    }
}

/// Why something could not be done on the bus.
struct BusError: Error, Equatable {
    /// The error's name in another program's answer; empty when the bus itself fails.
    let name: String
    /// The message, in one line.
    let description: String

    init(_ code: Int32, _ call: String) {
        name = ""
        description = SystemError(call: call, code: -code).description
    }

    init(name: String, message: String) {
        self.name = name
        description = message.isEmpty ? name : message
    }
}
