// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioDevices

@Suite struct CaptureDevicesTests {
    @Test func whatCanBeRecordedFromIsListed() throws {
        try VirtualMicrophone.prepare()
        let devices = try CaptureDevices.list()
        #expect(
            devices.contains(CaptureDevice(name: "uttermic", description: "Virtual microphone")))
        #expect(
            devices.contains(
                CaptureDevice(name: "headset:CARD=Nowhere", description: "Headset, of nobody")))
        #expect(!devices.contains { $0.name == "speakers" })
        #expect(!devices.contains { $0.name == "null" })
    }

    @Test func theDefaultIsNamed() {
        #expect(CaptureDevice(name: "default", description: "").isDefault)
        #expect(!CaptureDevice(name: "plughw:CARD=PCH", description: "").isDefault)
    }
}
