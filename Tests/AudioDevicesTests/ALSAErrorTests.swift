// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import AudioDevices
@testable import Capture
@testable import LinuxPlatform

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
