// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioDevices
@testable import Capture
@testable import LinuxPlatform

/// Which microphone a text stands for.
@Suite struct DeviceChoiceTests {
    private static let devices = [
        CaptureDevice(name: "default", description: "Default Audio Device"),
        CaptureDevice(name: "hw:CARD=PCH,DEV=0", description: "HDA Intel, ALC", card: "HDA Intel"),
        CaptureDevice(name: "plughw:CARD=PCH,DEV=0", description: "HDA", card: "HDA Intel"),
        CaptureDevice(name: "sysdefault:CARD=PCH", description: "HDA", card: "HDA Intel"),
        CaptureDevice(name: "hw:CARD=Yeti,DEV=0", description: "Yeti", card: "Blue Yeti"),
        CaptureDevice(name: "plughw:CARD=Yeti,DEV=0", description: "Yeti", card: "Blue Yeti"),
        CaptureDevice(name: "pulse", description: "PulseAudio Sound Server"),
        CaptureDevice(name: "speakers", description: "Monitor of HDMI"),
    ]

    @Test(arguments: [
        ("pulse", "pulse"), ("default", "default"), ("hw:CARD=PCH,DEV=0", "hw:CARD=PCH,DEV=0"),
        // The name of a card with the most useful of its names.
        ("pch", "sysdefault:CARD=PCH"), ("blue yeti", "plughw:CARD=Yeti,DEV=0"),
        // Names that are in no list.
        ("hw:1,0", "hw:1,0"), ("elsewhere", "elsewhere"), ("", ""),
        ("soundserver", "soundserver"), ("Sound Server", "pulse"),
    ])
    func oneIsMeant(_ text: String, _ name: String) throws {
        #expect(try DeviceHost.device(meantBy: text, among: Self.devices).name == name)
    }

    @Test(arguments: ["0", "12", "D", "a", "audio"]) func severalOrNoneAreMeant(_ text: String) {
        do throws(CaptureError) {
            let device = try DeviceHost.device(meantBy: text, among: Self.devices)
            Issue.record("\(device.name)")
        } catch {
            guard case .deviceUnclear(text, let candidates) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(candidates.count > 1)
        }
    }

    @Test func aMonitorIsKnownByNameOrDescription() {
        let monitors = Self.devices.filter(\.isMonitor).map(\.name)
        #expect(monitors == ["speakers"])
        #expect(CaptureDevice(name: "pulse:DEVICE=x.monitor", description: "").isMonitor)
        #expect(throws: CaptureError.deviceIsMonitor(device: "pulse:x.monitor")) {
            try DeviceHost.name(meantBy: "pulse:x.monitor")
        }
        #expect(throws: Never.self) {
            try DeviceHost.name(meantBy: "pulse:x.monitor", allowsMonitor: true)
        }
    }
}

@Suite struct DeviceHostTests {
    @Test func whatCanBeRecordedFromIsListed() throws {
        try VirtualMicrophone.prepare()
        let devices = try DeviceHost.list()
        #expect(
            devices.contains(CaptureDevice(name: "uttermic", description: "Virtual microphone")))
        #expect(
            devices.contains(
                CaptureDevice(name: "headset:CARD=Nowhere", description: "Headset, of nobody")))
        #expect(!devices.contains { $0.name == "speakers" })
        #expect(!devices.contains { $0.name == "null" })
        #expect(CaptureDevice(name: "default", description: "").isDefault)
        #expect(!CaptureDevice(name: "plughw:CARD=PCH", description: "").isDefault)
    }
}

@Suite struct ALSAErrorTests {
    @Test(arguments: [EMFILE, ENFILE, ENOMEM])
    func aLimitIsNoDeviceThatIsMissing(_ code: Int32) throws {
        let error = ALSAError(operation: "snd_pcm_open", code: code)
        let limit = SystemError(call: "snd_pcm_open", code: code)
        #expect(error.opening("card") == .limitReached(name: "card", limit))
        #expect(error.opening("card").description == "cannot open 'card': \(limit.reason)")
    }

    @Test func aDeviceThatIsMissingOrBusyIsNoLimit() {
        let missing = ALSAError(operation: "snd_pcm_open", code: ENOENT)
        guard case .deviceNotFound("card", let reason?) = missing.opening("card") else {
            Issue.record("\(missing.opening("card"))")
            return
        }
        #expect(reason.contains("No such file or directory"))
        let busy = ALSAError(operation: "snd_pcm_open", code: EAGAIN)
        #expect(busy.opening("card") == .deviceBusy(device: "card"))
    }
}
