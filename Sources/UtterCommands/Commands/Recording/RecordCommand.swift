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

    @OptionGroup
    var options: RecorderOptions

    @OptionGroup(title: "Keys")
    var keys: KeyOptions

    func validate() throws {
        guard let exactly = time.exactly else { return }
        // Zero is a lost digit: nothing would be recorded, without a message.
        if exactly.duration == .zero { throw ValidationError("--for must be above zero.") }
        if let max = options.voice.max, exactly.duration > max.duration {
            throw ValidationError("--for is longer than --max, which would cut it.")
        }
    }

    func run() async throws {
        Configuration.warnOfProblems()
        try await Launch.takes(
            output: options.output, keep: options.keep, encryption: options.encryption.source,
            readsPipe: time.exactly == nil,
            isVoice: true, opensMicrophone: true
        ) { session in
            let manner = try keys.manner(isForOne: true)
            let plan = try options.voice.planner(for: options.service, exactly: time.exactly)
            session.warn(ofNoService: options.service)
            guard time.exactly == nil else {
                return await session.run(
                    plan(), as: .recordingForTime, isServiceUnset: options.service.isServiceUnset)
            }
            return try await session.talk(
                manner, longest: try options.voice.longest,
                isServiceUnset: options.service.isServiceUnset, plan)
        }
    }
}
