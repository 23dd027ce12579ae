// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import AudioDevices
import Utter

/// What is recorded, and where it goes, for takes that the control socket begins and ends.
struct RecorderOptions: ParsableArguments {
    @OptionGroup(title: "Voice")
    var voice: VoiceOptions

    @OptionGroup(title: "Text")
    var output: OutputOptions

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        if output.json { throw ValidationError("--json is an option of 'utter stop'.") }
    }

    /// Whether a person has said what to record, and where it goes: that counts only where the
    /// recording is.
    var sayHow: Bool {
        Self.areGiven(voice) || Self.areGiven(service) || Self.areGiven(keep)
            || Self.areGiven(encryption)
    }

    /// Whether options are other than those of an empty command line.
    private static func areGiven<Options: ParsableArguments>(_ options: Options) -> Bool {
        // An empty command line is always understood.
        guard let none = try? Options.parse([]) else { return false }
        return String(describing: none) != String(describing: options)
    }

    /// Where takes go, as options, variables and settings say it now.
    ///
    /// Reads secrets.
    func delivery() throws(CommandFailure) -> DeliveryPlan {
        try service.planner(format: voice.format)(Microphone(), CapturePlan()).delivery
    }
}
