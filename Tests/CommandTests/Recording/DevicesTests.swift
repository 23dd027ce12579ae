// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct DevicesTests {
    @Test func theDefaultComesFirstAndEachIsOneLine() async throws {
        let result = try await Bench(microphone: try VirtualMicrophone()).run("devices")
        #expect(result.status == .exited(0))
        #expect(result.error.isEmpty)
        let lines = result.outputText.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("default ") == true)
        #expect(
            lines.first?.hasSuffix(
                "Default, the virtual microphone (default); 16-48 kHz, 1 or more ch, any format")
                == true,
            "\(lines)")
        #expect(lines.contains { $0.hasSuffix("Virtual microphone; 16-48 kHz, 1-2 ch, S16_LE") })
        #expect(lines.contains { $0.hasSuffix("Headset, of nobody; not there") })
        #expect(!lines.contains { $0.hasSuffix(" ") })
        #expect(lines.contains { $0.hasPrefix("uttermic ") })
        #expect(lines.contains { $0.hasPrefix("headset:CARD=Nowhere ") })
        #expect(!lines.contains { $0.hasPrefix("speakers") || $0.hasPrefix("null") })
        // The descriptions begin in one column.
        let starts = lines.map { line in
            line.split(separator: " ", maxSplits: 1).last.map {
                line.count - $0.drop { $0 == " " }.count
            }
        }
        #expect(Set(starts).count == 1)
    }

    @Test func jsonIsAnArrayOfNamedDevices() async throws {
        let result = try await Bench(microphone: try VirtualMicrophone()).run("devices", "--json")
        #expect(result.status == .exited(0))
        let list = try JSONText(result.output)
        #expect(list[0]?["name"] == .string("default"))
        #expect(list[0]?["isDefault"] == .bool(true))
        #expect(list[0]?["description"] == .string("Default, the virtual microphone"))
        #expect(list[1]?["isDefault"] == .bool(false))
        let array = try #require(list.array)
        let card = try #require(array.first { $0["name"] == .string("uttermic") })
        #expect(card["formats"] == .array([.string("S16_LE")]))
        #expect(card["rates"] == .array([16_000, 44_100, 48_000].map { .number($0) }))
        #expect(card["fewestChannels"] == .number(1))
        #expect(card["mostChannels"] == .number(2))
        #expect(card["isMonitor"] == .bool(false))
        let absent = try #require(array.first { $0["name"] == .string("headset:CARD=Nowhere") })
        #expect(absent["problem"] != nil)
    }

    @Test func aDeviceThatIsHeldIsBusy() async throws {
        let card = try VirtualMicrophone()
        card.setBusy()
        let result = try await Bench(microphone: card).run("devices")
        #expect(result.outputText.contains("Virtual microphone; busy\n"))
        #expect(card.account.opens == 0)
    }

    @Test func namesAloneOpenNothing() async throws {
        let card = try VirtualMicrophone()
        let result = try await Bench(microphone: card).run("devices", "--names")
        #expect(result.outputText.split(separator: "\n").first == "default")
        #expect(result.outputText.split(separator: "\n").contains("uttermic"))
        #expect(card.account.opens == 0)
    }

    @Test func aPartThatOneDeviceHasIsThatDevice() async throws {
        let bench = try Bench(microphone: try VirtualMicrophone())
        let result = try await bench.run("--device", "of NOBODY", "--for", "100ms")
        #expect(result.errorText.contains("cannot record from 'headset:CARD=Nowhere'"))
    }

    @Test func aNumberIsNoName() async throws {
        let result = try await Bench(microphone: try VirtualMicrophone()).run("--device", "0")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("'0' does not name one microphone: it may be default, "))
        #expect(result.errorText.contains("hint: run 'utter devices'"))
    }

    @Test func aMonitorIsRefusedUnlessItIsWanted() async throws {
        let bench = try Bench(microphone: try VirtualMicrophone())
        let name = "pulse:DEVICE=alsa_output.monitor"
        let refused = try await bench.run("--device", name)
        #expect(refused.status == .exited(66))
        #expect(
            refused.errorText
                == "utter: error: '\(name)' records what the computer plays, not a voice\n"
                + "utter: hint: if that is what you want, say so with --allow-monitor\n")
        let wanted = try await bench.run("--device", name, "--allow-monitor")
        #expect(
            wanted.errorText.contains("no capture device named")
                || wanted.errorText.contains("cannot record from"))
    }

    @Test func aMonitorThatTheSoundServerTakesByDefaultIsRefused() async throws {
        var environment = try VirtualMicrophone().environment
        environment["PULSE_SOURCE"] = "alsa_output.pci.analog-stereo.monitor"
        let result = try await Bench(environment).run()
        #expect(result.errorText.contains("'default' records what the computer plays"))
    }

    @Test func noDeviceIsStatus66() async throws {
        let bench = try Bench()
        let empty = try bench.folder.write(Array("pcm.!default \"x\"\n".utf8), to: "asound.conf")
        let none = try Bench(["ALSA_CONFIG_PATH": empty])
        let result = try await none.run("devices")
        #expect(result.status == .exited(66))
        #expect(result.output.isEmpty)
        #expect(result.errorText.hasPrefix("utter: error: there is no capture device\n"))
    }

    @Test func everyListedDeviceCanBeNamed() async throws {
        let card = try VirtualMicrophone()
        let bench = try Bench(server: .hearing("named"), microphone: card)
        for name in ["default", "uttermic"] {
            let result = try await bench.run("--device", name, "--for", "100ms")
            #expect(result.status == .exited(0))
        }
    }

    /// What is listed is not said to have no such name: what ALSA says of it is.
    @Test func aDeviceThatIsListedAndAbsentSaysWhatALSASays() async throws {
        let result = try await Bench(microphone: try VirtualMicrophone()).run(
            "--device", "headset:CARD=Nowhere", "--for", "1s")
        #expect(result.status == .exited(66))
        #expect(
            result.errorText.contains(
                "utter: error: cannot record from 'headset:CARD=Nowhere': No such file or directory; "
                    + "ALSA says: "),
            "\(result.errorText)")
        #expect(result.errorText.contains("utter: hint: check ALSA's configuration"))
    }
}
