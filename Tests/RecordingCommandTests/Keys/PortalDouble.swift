// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import ShortcutPortal

/// A desktop's portal for global shortcuts, with a person who says what the test wants.
///
/// It speaks D-Bus on a bus of its own, on a thread of its own.
final class PortalDouble: Sendable {
    enum Manner: Sendable {
        /// The person says yes.
        case granting
        /// The person says no.
        case declining
        /// It ends every request with another code than those two.
        case failing
        /// It knows no global shortcuts.
        case without
    }

    let bus: PrivateBus
    private let server: PortalServer

    /// Starts a bus with a portal, and a person who has chosen a key.
    init(_ manner: Manner = .granting, trigger: String = "F9") async throws {
        bus = try await PrivateBus()
        let server = PortalServer(address: bus.address, manner, trigger)
        self.server = server
        // It must not keep the double, whose end is its own.
        _ = try NamedThread(name: "portal") { server.run() }
        try #require(await server.ready.value == nil)
    }

    deinit { server.order(.end) }

    var calls: [String] { server.state.withLock { $0.calls } }

    var asked: [BusValue] { server.state.withLock { $0.shortcuts } }

    /// The application that has named itself.
    var registered: String? { server.state.withLock { $0.registered } }

    func press(_ id: String = "talk", at time: UInt64) {
        server.order(.signal("Activated", id, time: time))
    }

    func release(_ id: String = "talk", at time: UInt64) {
        server.order(.signal("Deactivated", id, time: time))
    }

    /// Gives the shortcut another key.
    func change(to trigger: String) { server.order(.change(trigger)) }

    func close() { server.order(.close) }
}

private final class PortalServer: Sendable {
    enum Order: Sendable {
        case signal(String, String, time: UInt64)
        case change(String)
        case close
        case end
    }

    struct State {
        var orders: [Order] = []
        var calls: [String] = []
        var shortcuts: [BusValue] = []
        var registered: String?
    }

    let state = Mutex(State())
    /// Why it cannot serve; nil once it does.
    let ready = Settlement<String?>()
    private let address: String
    private let manner: PortalDouble.Manner
    private let trigger: String

    private static let session = "/org/freedesktop/portal/desktop/session/test/utter"
    private static let shortcuts = "org.freedesktop.portal.GlobalShortcuts"

    init(address: String, _ manner: PortalDouble.Manner, _ trigger: String) {
        (self.address, self.manner, self.trigger) = (address, manner, trigger)
    }

    func order(_ order: Order) { state.withLock { $0.orders.append(order) } }

    // MARK: - The thread

    /// Serves until the order to end, or until the bus does.
    func run() {
        do throws(BusError) {
            try serve()
        } catch {
            ready.settle(error.description)
        }
    }

    private func serve() throws(BusError) {
        let bus = try Bus(address: address)
        try bus.take(name: "org.freedesktop.portal.Desktop")
        ready.settle(nil)
        while true {
            if let message = try bus.next(by: .now + .milliseconds(10)) { try answer(message, bus) }
            for order in state.withLock({ state in
                defer { state.orders = [] }
                return state.orders
            }) {
                switch order {
                case .signal(let name, let id, let time):
                    try bus.signal(
                        "\(Self.shortcuts).\(name)", from: "/org/freedesktop/portal/desktop",
                        [.path(Self.session), .string(id), .long(time), .options([:])])
                case .change(let trigger):
                    try bus.signal(
                        "\(Self.shortcuts).ShortcutsChanged",
                        from: "/org/freedesktop/portal/desktop",
                        [.path(Self.session), Self.bound(trigger)])
                case .close:
                    try bus.signal(
                        "org.freedesktop.portal.Session.Closed", from: Self.session,
                        [.options([:])])
                case .end: return
                }
            }
        }
    }

    private func answer(_ call: BusMessage, _ bus: Bus) throws(BusError) {
        guard
            call.name.hasPrefix("org.freedesktop.portal.")
                || call.name.hasPrefix("org.freedesktop.host.portal.")
                || call.name.hasPrefix("org.freedesktop.DBus.Properties.")
        else { return }
        state.withLock { $0.calls.append(call.name) }
        let values = call.values()
        switch call.name {
        case "org.freedesktop.host.portal.Registry.Register":
            state.withLock { $0.registered = values.first?.text }
            try bus.answer(call, [])
        case "org.freedesktop.DBus.Properties.Get":
            guard manner != .without else {
                return try bus.refuse(
                    call, "org.freedesktop.DBus.Error.InvalidArgs",
                    "No such interface “\(Self.shortcuts)”")
            }
            try bus.answer(call, [.variant(.unsigned(2))])
        case "\(Self.shortcuts).CreateSession":
            try respond(
                to: call, "create", bus, ["session_handle": .string(Self.session)])
        case "\(Self.shortcuts).BindShortcuts":
            state.withLock { $0.shortcuts = values.count > 1 ? values[1].members : [] }
            try respond(to: call, "bind", bus, ["shortcuts": Self.bound(trigger)])
        default: try bus.refuse(call, "org.freedesktop.DBus.Error.UnknownMethod", call.name)
        }
    }

    private func respond(
        to call: BusMessage, _ name: String, _ bus: Bus, _ results: [String: BusValue]
    ) throws(BusError) {
        let request = "/org/freedesktop/portal/desktop/request/test/\(name)"
        try bus.answer(call, [.path(request)])
        let code: UInt32
        switch manner {
        case .declining: code = name == "bind" ? 1 : 0
        case .failing: code = 2
        case .granting, .without: code = 0
        }
        try bus.signal(
            "org.freedesktop.portal.Request.Response", from: request,
            [.unsigned(code), .options(code == 0 ? results : [:])])
    }

    private static func bound(_ trigger: String) -> BusValue {
        .array(
            [
                .structure([
                    .string("talk"),
                    .options([
                        "description": .string("talk"), "trigger_description": .string(trigger),
                    ]),
                ])
            ], of: "(sa{sv})")
    }
}
