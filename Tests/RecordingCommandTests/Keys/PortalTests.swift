// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import ShortcutPortal

/// `utter keys --portal`: real sd-bus and a real bus; only the desktop is played.
@Suite struct PortalTests {
    /// A desktop, a daemon, and `utter keys` that watches the shortcut.
    private struct Stage {
        let portal: PortalDouble
        let control: ControlBench
        let daemon: CommandRun
        let keys: CommandRun

        init(_ text: String, trigger: String = "F9", _ arguments: String...) async throws {
            portal = try await PortalDouble(trigger: trigger)
            control = try ControlBench(.hearing(text))
            daemon = try await control.daemon()
            let keys = try control.bench.start(
                ["keys"] + arguments, variables: ["DBUS_SESSION_BUS_ADDRESS": portal.bus.address])
            #expect(await keys.wait(for: "and speak, or tap it", in: .error), "\(keys.errorText)")
            self.keys = keys
        }

        /// Waits until something is recorded.
        func isHeard(request: Int = 0) async throws {
            _ = try #require(await control.server.wait(untilBytes: 8_000, ofRequest: request))
        }
    }

    @Test func aShortcutIsHeld() async throws {
        let stage = try await Stage("by the portal", "--portal", "--key", "CTRL+F8")
        let (portal, keys) = (stage.portal, stage.keys)
        #expect(keys.errorText.contains("utter: hold F9 and speak, or tap it"))
        #expect(portal.registered == "org.utter.Utter")
        #expect(
            portal.asked.first
                == .structure([
                    .string("talk"),
                    .options([
                        "description": .string("Hold to talk, tap to begin and to end"),
                        "preferred_trigger": .string("CTRL+F8"),
                    ]),
                ]))
        let calls = portal.calls.map { String($0.split(separator: ".").last ?? "") }
        #expect(calls == ["Register", "Get", "CreateSession", "BindShortcuts"])
        portal.press(at: 1_000)
        try await stage.isHeard()
        portal.release(at: 2_500)
        #expect(await keys.wait(for: "by the portal\n", in: .output))
        keys.signal(SIGINT)
        let ended = try await keys.result()
        #expect(ended.status == .exited(130))
        #expect(ended.outputText == "by the portal\n")
        #expect(stage.control.server.requests.count == 1)
        #expect(stage.daemon.status == nil)
    }

    @Test func unaskedThePortalIsUsedATapLatchesAndAClosedSessionReleasesTheKey() async throws {
        let stage = try await Stage("tapped")
        let (portal, keys) = (stage.portal, stage.keys)
        portal.press(at: 1_000)
        portal.release(at: 1_200)
        let line = "utter: recording goes on; press the key once more to end it\n"
        #expect(await keys.wait(for: line, in: .error))
        try await stage.isHeard()
        portal.press(at: 5_000)
        portal.release(at: 5_100)
        #expect(await keys.wait(for: "tapped\n", in: .output))
        // The other shortcut throws away.
        portal.press(at: 9_000)
        try await stage.isHeard(request: 1)
        portal.press("cancel", at: 9_500)
        #expect(await keys.wait(for: " is cancelled\n", in: .error))
        portal.change(to: "F10")
        #expect(await keys.wait(for: "utter: now F10\n", in: .error))
        portal.release(at: 10_000)
        portal.press(at: 12_000)
        try await stage.isHeard(request: 2)
        portal.close()
        let ended = try await keys.result()
        #expect(ended.status == .exited(75))
        #expect(ended.outputText == "tapped\ntapped\n")
        #expect(
            ended.errorText.contains(
                "utter: error: the desktop has ended the session of the shortcut\n"))
        #expect(stage.daemon.status == nil)
    }

    @Test func aKeyThatThePersonHasYetToChooseIsSaidAndABusThatEndsEndsIt() async throws {
        let stage = try await Stage("", trigger: "")
        let said = stage.keys.errorText
        #expect(said.contains("utter: hold that key and speak, or tap it"))
        #expect(said.contains("utter: the desktop has no key for it yet; choose one in"))
        #expect(said.contains("bind = , F9, global, org.utter.Utter:talk\n"))
        try await stage.portal.bus.end()
        let ended = try await stage.keys.result()
        #expect(ended.status == .exited(75))
        #expect(ended.errorText.contains("utter: error: the session's bus has ended: "))
    }

    private func keys(_ options: [String], on address: String) async throws -> CommandResult {
        let control = try ControlBench(.hearing(""))
        defer { withExtendedLifetime(control) {} }
        return try await control.bench.start(
            ["keys"] + options, variables: ["DBUS_SESSION_BUS_ADDRESS": address]
        ).result()
    }

    @Test func withoutABusOrAPortalItSaysWhatToDo() async throws {
        let (empty, without) = (try await PrivateBus(), try await PortalDouble(.without))
        defer { withExtendedLifetime((empty, without)) {} }
        for (address, options) in [
            ("unix:path=/nowhere/bus", []), (empty.address, ["--portal"]),
            (without.bus.address, []),
        ] {
            let result = try await keys(options, on: address)
            #expect(result.status == .exited(78))
            #expect(result.output == [])
            #expect(
                result.errorText.hasPrefix(
                    "utter: error: this session has no portal for global shortcuts: "))
            #expect(
                result.errorText.hasSuffix(
                    "utter: hint: bind a key to commands: utter setup binds; or read the "
                        + "keyboards, which takes a right that 'utter keys --help' explains: utter "
                        + "keys --evdev\n"))
        }
    }

    @Test(arguments: [
        (PortalDouble.Manner.declining, Int32(78), "the shortcut was declined\n"),
        (.failing, 69, "the portal for global shortcuts refuses: CreateSession ended with 2\n"),
    ])
    func aRefusalIsSaid(
        _ manner: PortalDouble.Manner, _ status: Int32, _ message: String
    ) async throws {
        let portal = try await PortalDouble(manner)
        defer { withExtendedLifetime(portal) {} }
        let result = try await keys([], on: portal.bus.address)
        #expect(result.status == .exited(status))
        #expect(result.errorText.hasPrefix("utter: error: \(message)utter: hint: "))
    }
}
