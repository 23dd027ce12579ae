// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ShortcutPortal

/// Values on a real bus, and the clock of shortcuts.
@Suite struct BusTests {
    /// No constant: the leak sanitizer does not see what an enum keeps in a global variable.
    private static var values: [BusValue] {
        [
            .string("a"), .path("/a/b"), .unsigned(7), .long(1 << 40), .bool(true),
            .variant(.array([], of: "(sa{sv})")),
            .options(["x": .string("y"), "z": .array([.string("1"), .string("2")], of: "s")]),
            .array([.structure([.string("id"), .options(["n": .bool(false)])])], of: "(sa{sv})"),
        ]
    }

    @Test func whatIsWrittenIsRead() async throws {
        let bus = try await PrivateBus()
        let address = bus.address
        let came = try await onOwnThread {
            Result { () throws(BusError) -> [BusValue] in
                let (one, two) = (try Bus(address: address), try Bus(address: address))
                try one.listen(to: "type='signal',interface='a.b'")
                try two.signal("a.b.C", from: "/c", Self.values)
                while let message = try one.next(by: .now + .patience) {
                    if message.name == "a.b.C" { return message.values() }
                }
                return []
            }
        }.get()
        #expect(came == Self.values)
        withExtendedLifetime(bus) {}
    }

    @Test func whereNothingListensThereIsNoBus() async {
        let failure = await onOwnThread { () -> BusError? in
            do throws(BusError) {
                _ = try Bus(address: "unix:path=/nowhere/bus")
                return nil
            } catch {
                return error
            }
        }
        #expect(failure?.description == "connect to the session's bus: No such file or directory")
    }

    @Test func aReleaseIsAsLateAsTheDesktopSays() {
        let now = ContinuousClock.now
        let later = now + .milliseconds(50)
        func length(_ press: UInt64, _ release: UInt64) -> Duration {
            var clock = ShortcutClock()
            let down = clock.pressed(at: press, now: now)
            return clock.released(at: release, now: later) - down
        }
        #expect(length(1_000, 3_000) == .seconds(2))
        #expect(length(1_000, 1_010) == .milliseconds(10))
        // No times, times that run backwards, and those of two clocks.
        #expect(length(0, 3_000) == .milliseconds(50))
        #expect(length(3_000, 1_000) == .milliseconds(50))
        #expect(length(1, 1 << 60) == .milliseconds(50))
        var clock = ShortcutClock()
        #expect(clock.released(at: 9, now: later) == later)
    }
}
