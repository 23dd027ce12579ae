// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter devices`.
@Suite struct DevicesTests {
    @Test func theDefaultComesFirstAndEachIsOneLine() async throws {
        let result = try await Bench(microphone: try VirtualMicrophone()).run("devices")
        #expect(result.status == .exited(0))
        #expect(result.error.isEmpty)
        let lines = result.outputText.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("default ") == true)
        #expect(lines.first?.hasSuffix("Default, the virtual microphone (default)") == true)
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
        let server = try RecordingServer.hearing("named")
        let bench = try Bench(server: server, microphone: card)
        for name in ["default", "uttermic"] {
            let result = try await bench.run("--device", name, "--for", "100ms")
            #expect(result.status == .exited(0))
        }
    }
}
