// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import AudioDevices
import Utter

/// What is recorded, and where it goes, for takes that the control socket begins and ends.
struct RecorderOptions: ParsableArguments {
    @OptionGroup
    var voice: VoiceOptions

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        if output.json { throw ValidationError("--json is an option of 'utter stop'.") }
    }

    /// Where takes go, as options, variables and settings say it now.
    ///
    /// Reads secrets.
    ///
    /// - Throws: `CommandFailure` when one of them is wrong, or a secret cannot be had.
    func delivery() throws(CommandFailure) -> DeliveryPlan {
        try service.planner(format: voice.format)(Microphone(), CapturePlan()).delivery
    }
}
