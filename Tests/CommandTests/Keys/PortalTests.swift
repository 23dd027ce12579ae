// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import ShortcutPortal

/// `utter keys --portal`: real sd-bus and a real bus; only the desktop is played.
@Suite struct PortalTests {
    private func start(
        _ control: ControlBench, _ portal: PortalDouble, _ arguments: String...
    ) async throws -> BenchRun {
        try control.bench.start(
            ["keys"] + arguments, variables: ["DBUS_SESSION_BUS_ADDRESS": portal.bus.address])
    }

    private let ready = "and speak, or tap it"

    @Test func aShortcutIsHeld() async throws {
        let (portal, control) = (
            try await PortalDouble(), try ControlBench(.hearing("by the portal"))
        )
        let daemon = try await control.daemon()
        let keys = try await start(control, portal, "--portal", "--key", "CTRL+F8")
        #expect(await keys.wait(for: "utter: hold F9 \(ready)", in: .error), "\(keys.errorText)")
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
        #expect(
            portal.calls.map { $0.split(separator: ".").last.map(String.init) ?? "" } == [
                "Register", "Get", "CreateSession", "BindShortcuts",
            ])
        portal.press(at: 1_000)
        _ = try #require(await control.server.wait(untilBytes: 8_000, ofRequest: 0))
        portal.release(at: 2_500)
        #expect(await keys.wait(for: "by the portal\n", in: .output))
        keys.signal(SIGINT)
        let ended = try await keys.result()
        #expect(ended.status == .exited(130))
        #expect(ended.outputText == "by the portal\n")
        #expect(control.server.requests.count == 1)
        #expect(daemon.status == nil)
    }

    @Test func unaskedThePortalIsUsedAndATapLatches() async throws {
        let (portal, control) = (try await PortalDouble(), try ControlBench(.hearing("tapped")))
        let daemon = try await control.daemon()
        let keys = try await start(control, portal)
        #expect(await keys.wait(for: ready, in: .error), "\(keys.errorText)")
        portal.press(at: 1_000)
        portal.release(at: 1_200)
        let line = "utter: recording goes on; press the key once more to end it\n"
        #expect(await keys.wait(for: line, in: .error))
        _ = try #require(await control.server.wait(untilBytes: 8_000, ofRequest: 0))
        portal.press(at: 5_000)
        portal.release(at: 5_100)
        #expect(await keys.wait(for: "tapped\n", in: .output))
        // The other shortcut throws away.
        portal.press(at: 9_000)
        _ = try #require(await control.server.wait(untilBytes: 8_000, ofRequest: 1))
        portal.press("cancel", at: 9_500)
        #expect(await keys.wait(for: " is cancelled\n", in: .error))
        portal.change(to: "F10")
        #expect(await keys.wait(for: "utter: now F10\n", in: .error))
        keys.signal(SIGTERM)
        #expect(try await keys.result().outputText == "tapped\n")
        #expect(daemon.status == nil)
    }

    @Test func aSessionThatIsClosedWhileTheKeyIsHeldReleasesIt() async throws {
        let (portal, control) = (try await PortalDouble(), try ControlBench(.hearing("closed")))
        let daemon = try await control.daemon()
        let keys = try await start(control, portal)
        #expect(await keys.wait(for: ready, in: .error), "\(keys.errorText)")
        portal.press(at: 1_000)
        _ = try #require(await control.server.wait(untilBytes: 8_000, ofRequest: 0))
        portal.close()
        let ended = try await keys.result()
        #expect(ended.status == .exited(75))
        #expect(ended.outputText == "closed\n")
        #expect(
            ended.errorText.contains(
                "utter: error: the desktop has ended the session of the shortcut\n"))
        #expect(daemon.status == nil)
    }

    @Test func aBusThatEndsEndsIt() async throws {
        let (portal, control) = (try await PortalDouble(), try ControlBench(.hearing("")))
        let keys = try await start(control, portal)
        #expect(await keys.wait(for: ready, in: .error), "\(keys.errorText)")
        try await portal.bus.end()
        let ended = try await keys.result()
        #expect(ended.status == .exited(75))
        #expect(ended.errorText.contains("utter: error: the session's bus has ended: "))
    }

    @Test func aKeyThatThePersonHasYetToChooseIsSaid() async throws {
        let (portal, control) = (
            try await PortalDouble(trigger: ""), try ControlBench(.hearing(""))
        )
        let keys = try await start(control, portal)
        #expect(await keys.wait(for: "utter: hold that key \(ready)", in: .error))
        #expect(
            keys.errorText.contains("utter: the desktop has no key for it yet; choose one in"))
        #expect(keys.errorText.contains("bind = , F9, global, org.utter.Utter:talk\n"))
    }

    @Test func withoutABusOrAPortalItSaysWhatToDo() async throws {
        let control = try ControlBench(.hearing(""))
        let nowhere = try await control.bench.start(
            ["keys"], variables: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"]
        ).result()
        let empty = try await PrivateBus()
        let lonely = try await control.bench.start(
            ["keys", "--portal"], variables: ["DBUS_SESSION_BUS_ADDRESS": empty.address]
        ).result()
        let without = try await start(control, try await PortalDouble(.without)).result()
        for result in [nowhere, lonely, without] {
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
        let (portal, control) = (try await PortalDouble(manner), try ControlBench(.hearing("")))
        let result = try await start(control, portal).result()
        #expect(result.status == .exited(status))
        #expect(result.errorText.hasPrefix("utter: error: \(message)utter: hint: "))
    }

    @Test func bothAtOnceAreAWrongCommandLine() async throws {
        let result = try await Bench().run("keys", "--portal", "--evdev")
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("--portal and --evdev exclude each other"))
    }
}
