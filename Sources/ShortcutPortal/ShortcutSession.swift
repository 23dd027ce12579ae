// SPDX-License-Identifier: Apache-2.0

/// Shortcuts of which the desktop tells, by the XDG portal `GlobalShortcuts`.
///
/// Belongs to one thread, and blocks it. Its calls have two answers: the path of a request at once,
/// and what has come of it in a signal of that request.
package final class ShortcutSession {
    /// What the desktop tells.
    package enum Event: Equatable, Sendable {
        /// A shortcut was pressed, in milliseconds of a clock of the desktop's.
        case activated(String, time: UInt64)
        /// A shortcut was let go.
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
    /// The keys as the desktop describes them, by the names of their shortcuts.
    package private(set) var triggers: [String: String] = [:]

    /// How long the portal has to make a session.
    private static let patience = Duration.seconds(25)
    /// How long the person has to say yes.
    private static let thinkingTime = Duration.seconds(300)

    /// Asks for shortcuts, and waits until the person has allowed them.
    ///
    /// - Parameters:
    ///   - shortcuts: what is asked for.
    ///   - application: the name of a desktop file, by which the desktop knows the program.
    ///   - address: the bus; nil is that of the session.
    /// - Throws: `PortalError`.
    package init(
        _ shortcuts: [Shortcut], application: String, address: String? = nil
    ) throws(PortalError) {
        do throws(BusError) {
            bus = try Bus(address: address)
        } catch {
            throw .absent(error.description)
        }
        // A portal of an older version knows no registry, and guesses who asks.
        _ = try? bus.call(
            "\(Name.registry).Register", of: Name.portal, at: Name.object,
            [.string(application), .options([:])])
        do throws(BusError) {
            _ = try bus.call(
                "org.freedesktop.DBus.Properties.Get", of: Name.portal, at: Name.object,
                [.string(Name.shortcuts), .string("version")])
        } catch {
            throw .absent(error.description)
        }
        do throws(BusError) {
            for interface in [Name.request, Name.shortcuts, Name.session] {
                try bus.listen(
                    to: "type='signal',sender='\(Name.portal)',interface='\(interface)'")
            }
        } catch {
            throw .broken(error.description)
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

    /// Waits for what the desktop tells next.
    package func next() throws(PortalError) -> Event {
        while true {
            guard let message = try receive(by: nil) else { continue }
            let values = message.values()
            // Of another session, such as one that a program with our connection would have.
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

    /// Calls a method whose answer comes by a signal.
    private func ask(
        _ method: String, _ values: [BusValue], _ options: [String: BusValue],
        within limit: Duration
    ) throws(PortalError) -> [String: BusValue] {
        let deadline = ContinuousClock.now + limit
        let answer: [BusValue]
        do throws(BusError) {
            answer = try bus.call(
                "\(Name.shortcuts).\(method)", of: Name.portal, at: Name.object,
                values + [.options(options)])
        } catch {
            throw error.name.isEmpty ? .broken(error.description) : .refused(error.description)
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

    private func receive(
        by deadline: ContinuousClock.Instant?
    ) throws(PortalError) -> BusMessage? {
        let message: BusMessage?
        do throws(BusError) {
            message = try bus.next(by: deadline)
        } catch {
            throw .broken(error.description)
        }
        guard let message else { return nil }
        if message.name == "\(Name.session).Closed", message.path == session { throw .closed }
        if message.name == "org.freedesktop.DBus.Local.Disconnected" {
            throw .broken("it has closed the connection")
        }
        return message
    }
}
