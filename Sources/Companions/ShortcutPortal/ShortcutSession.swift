// SPDX-License-Identifier: Apache-2.0

/// Shortcuts by the XDG portal `GlobalShortcuts`.
///
/// Used by one thread, which it blocks. A call has two answers: the path of a request at once, and
/// later a signal of that request with the result.
package final class ShortcutSession {
    package enum Event: Equatable, Sendable {
        /// In milliseconds of the desktop's clock.
        case activated(String, time: UInt64)
        case deactivated(String, time: UInt64)
        /// The person has chosen other keys.
        case changed([String: String])
    }

    private enum Name {
        static let portal = "org.freedesktop.portal.Desktop"
        static let object = "/org/freedesktop/portal/desktop"
        static let shortcuts = "org.freedesktop.portal.GlobalShortcuts"
        static let request = "org.freedesktop.portal.Request"
        static let session = "org.freedesktop.portal.Session"
        static let registry = "org.freedesktop.host.portal.Registry"
    }

    private let bus: Bus
    private var session = ""
    /// By the shortcuts' names, as the desktop describes the keys.
    package private(set) var triggers: [String: String] = [:]

    /// For the portal to make a session.
    private static let patience = Duration.seconds(25)
    /// For the person to say yes.
    private static let thinkingTime = Duration.seconds(300)

    /// Blocks until the person has allowed the shortcuts.
    ///
    /// `application` is the name of a desktop file, by which the desktop knows the program.
    package init(
        _ shortcuts: [Shortcut], application: String, address: String? = nil
    ) throws(PortalError) {
        let bus = try Self.saying({ .absent($0.description) }) { () throws(BusError) in
            try Bus(address: address)
        }
        self.bus = bus
        // A portal of an older version knows no registry, and guesses who asks.
        _ = try? bus.call(
            "\(Name.registry).Register", of: Name.portal, at: Name.object,
            [.string(application), .options([:])])
        _ = try Self.saying({ .absent($0.description) }) { () throws(BusError) in
            try bus.call(
                "org.freedesktop.DBus.Properties.Get", of: Name.portal, at: Name.object,
                [.string(Name.shortcuts), .string("version")])
        }
        for interface in [Name.request, Name.shortcuts, Name.session] {
            try Self.saying({ .broken($0.description) }) { () throws(BusError) in
                try bus.listen(
                    to: "type='signal',sender='\(Name.portal)',interface='\(interface)'")
            }
        }
        let created = try ask(
            "CreateSession", [],
            ["handle_token": .string("utter"), "session_handle_token": .string("utter")],
            within: Self.patience)
        guard let session = created["session_handle"]?.text else {
            throw .refused("it names no session")
        }
        self.session = session
        let bound = try ask(
            "BindShortcuts",
            [.path(session), .array(shortcuts.map(\.value), of: "(sa{sv})"), .string("")],
            ["handle_token": .string("utter_bind")], within: Self.thinkingTime)
        triggers = Shortcut.triggers(in: bound["shortcuts"])
    }

    package func next() throws(PortalError) -> Event {
        while true {
            guard let message = try receive(by: nil) else { continue }
            let values = message.values()
            // Another program with our connection would have another session.
            guard values.first?.text == session else { continue }
            switch message.name {
            case "\(Name.shortcuts).ShortcutsChanged":
                triggers = Shortcut.triggers(in: values.dropFirst().first)
                return .changed(triggers)
            case "\(Name.shortcuts).Activated", "\(Name.shortcuts).Deactivated":
                guard values.count > 2, let id = values[1].text, case .long(let time) = values[2]
                else { continue }
                return message.name.hasSuffix(".Activated")
                    ? .activated(id, time: time) : .deactivated(id, time: time)
            default: continue
            }
        }
    }

    /// For a method whose result comes by a signal.
    private func ask(
        _ method: String, _ values: [BusValue], _ options: [String: BusValue],
        within limit: Duration
    ) throws(PortalError) -> [String: BusValue] {
        let deadline = ContinuousClock.now + limit
        let answer = try Self.saying({
            $0.name.isEmpty ? .broken($0.description) : .refused($0.description)
        }) { () throws(BusError) in
            try bus.call(
                "\(Name.shortcuts).\(method)", of: Name.portal, at: Name.object,
                values + [.options(options)])
        }
        // The signal may have come already: it waits in the queue.
        while let message = try receive(by: deadline) {
            guard message.name == "\(Name.request).Response", message.path == answer.first?.text
            else { continue }
            let values = message.values()
            guard values.count > 1, case .unsigned(let code) = values[0],
                case .options(let results) = values[1]
            else { throw .refused("its answer to \(method) is not understood") }
            switch code {
            case 0: return results
            case 1: throw .declined
            default: throw .refused("\(method) ended with \(code)")
            }
        }
        throw .silent(method)
    }

    private static func saying<Value>(
        _ reason: (BusError) -> PortalError, _ call: () throws(BusError) -> Value
    ) throws(PortalError) -> Value {
        do throws(BusError) {
            return try call()
        } catch {
            throw reason(error)
        }
    }

    private func receive(
        by deadline: ContinuousClock.Instant?
    ) throws(PortalError) -> BusMessage? {
        let next = try Self.saying({ .broken($0.description) }) { () throws(BusError) in
            try bus.next(by: deadline)
        }
        guard let message = next else { return nil }
        if message.name == "\(Name.session).Closed", message.path == session { throw .closed }
        if message.name == "org.freedesktop.DBus.Local.Disconnected" {
            throw .broken("it has closed the connection")
        }
        return message
    }
}

package struct Shortcut: Equatable, Sendable {
    /// Our own name of the shortcut.
    var id: String
    package let description: String
    /// As the XDG shortcuts specification writes it; nil proposes none.
    var preferredTrigger: String?

    package init(id: String, description: String, preferredTrigger: String? = nil) {
        (self.id, self.description) = (id, description)
        self.preferredTrigger = preferredTrigger
    }

    /// `(sa{sv})`, for `BindShortcuts`.
    var value: BusValue {
        var options = ["description": BusValue.string(description)]
        if let preferredTrigger { options["preferred_trigger"] = .string(preferredTrigger) }
        return .structure([.string(id), .options(options)])
    }

    static func triggers(in value: BusValue?) -> [String: String] {
        var triggers: [String: String] = [:]
        for case .structure(let pair) in value?.members ?? [] where pair.count == 2 {
            guard let id = pair[0].text, case .options(let options) = pair[1],
                let trigger = options["trigger_description"]?.text
            else { continue }
            triggers[id] = trigger
        }
        return triggers
    }
}

/// Why the desktop reports no shortcuts.
package enum PortalError: Error, Equatable, CustomStringConvertible {
    case absent(String)
    case declined
    /// Without a reason.
    case refused(String)
    case silent(String)
    case closed
    case broken(String)

    package var description: String {
        switch self {
        case .absent(let reason): "this session has no portal for global shortcuts: \(reason)"
        case .declined: "the shortcut was declined"
        case .refused(let reason): "the portal for global shortcuts refuses: \(reason)"
        case .silent(let what): "the portal for global shortcuts does not answer: \(what)"
        case .closed: "the desktop has ended the session of the shortcut"
        case .broken(let reason): "the session's bus has ended: \(reason)"
        }
    }
}

/// Turns the desktop's times of shortcuts into ours.
///
/// Pure. Only differences of the desktop's clock count: a press is when it is reported, and the
/// release follows after the desktop's difference, however late either is reported.
package struct ShortcutClock {
    private var press: (time: UInt64, instant: ContinuousClock.Instant)?

    /// A longer difference is between two clocks.
    private static let longest = Duration.seconds(3_600)

    package init() {}

    package mutating func pressed(
        at time: UInt64, now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        press = (time, now)
        return now
    }

    package mutating func released(
        at time: UInt64, now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        defer { press = nil }
        // Some desktops tell no times.
        guard let press, press.time > 0, time > press.time else { return now }
        let length = Duration.milliseconds(Int64(clamping: time - press.time))
        return length <= Self.longest ? press.instant + length : now
    }
}
