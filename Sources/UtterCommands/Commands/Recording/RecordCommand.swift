// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
internal import UtterSettings

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record from a microphone and print the transcript (the default).")

    @OptionGroup(title: "Voice")
    var time: TimeOptions

    @OptionGroup(title: "Voice")
    var voice: VoiceOptions

    @OptionGroup(title: "Keys")
    var keys: KeyOptions

    @OptionGroup(title: "Text")
    var output: OutputOptions

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        guard let exactly = time.exactly else { return }
        // Zero is a lost digit: nothing would be recorded, without a message.
        if exactly.duration == .zero { throw ValidationError("--for must be above zero.") }
        if let max = voice.max, exactly.duration > max.duration {
            throw ValidationError("--for is longer than --max, which would cut it.")
        }
    }

    func run() async throws {
        Configuration.warnOfProblems()
        try await Launch.takes(
            output: output, keep: keep, encryption: encryption.source,
            readsPipe: time.exactly == nil,
            isVoice: true, opensMicrophone: true
        ) { session in
            let manner = try keys.manner(isForOne: true)
            let plan = try voice.planner(for: service, exactly: time.exactly)
            session.warn(ofNoService: service)
            guard time.exactly == nil else {
                return await session.run(
                    plan(), as: .recordingForTime, isServiceUnset: service.isServiceUnset)
            }
            return try await session.talk(
                manner, longest: try voice.longest, isServiceUnset: service.isServiceUnset, plan)
        }
    }
}
