// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import UtterSettings

struct RecordCommand: AsyncParsableCommand, ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record from a microphone and print the transcript.")

    @OptionGroup(title: "Voice")
    var time: TimeOptions

    @OptionGroup
    var options: RecorderOptions

    @OptionGroup(title: "Keys")
    var keys: KeyOptions

    var form: OutputForm { options.output.form }

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
        let output = try options.output.completed()
        let delivery = try options.delivery()
        try await Launch.takes(
            output: output, keep: options.keep, encryption: options.encryption.source,
            readsPipe: time.exactly == nil, isVoice: true, isLive: true
        ) { session in
            let manner = try keys.manner(isForOne: true)
            let plan = try options.voice.takePlan(for: delivery, exactly: time.exactly)
            session.warnOfNoService(options.service)
            guard time.exactly == nil else {
                return await session.run(plan, as: .recordingForTime)
            }
            return try await session.talk(manner, longest: try options.voice.longest, plan)
        }
    }
}

struct LoopCommand: AsyncParsableCommand, ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "loop",
        abstract: "Dictate sentence after sentence, each a line.",
        discussion: """
            Each time the key is released, or pressed again, what was said is sent and printed
            as a line, in the order in which it was spoken; the next sentence can be spoken
            meanwhile. A sentence that fails is kept, and the loop goes on.

            With --silence the hands are free: a pause ends a sentence, and the next one is
            recorded at once, until the key or Escape ends that. What holds no voice at all
            goes on to --max, is sent once, and then utter waits for the key.

            Escape gives a sentence up. Ctrl-C does too, and ends the loop when nothing runs; so
            do q and Ctrl-D, after the last text. SIGUSR1 starts and stops, SIGUSR2 gives up.

            The exit status is that of the last sentence that failed, otherwise 0.
            """)

    @OptionGroup
    var options: RecorderOptions

    @OptionGroup(title: "Keys")
    var keys: KeyOptions

    var form: OutputForm { options.output.form }

    func run() async throws {
        Configuration.warnOfProblems()
        let output = try options.output.completed()
        let delivery = try options.delivery()
        try await Launch.takes(
            output: output, keep: options.keep, encryption: options.encryption.source,
            readsPipe: true, isVoice: true, isLive: true
        ) { session in
            let plan = try options.voice.takePlan(for: delivery)
            let silence = try KnownSettings.silence.value(options.voice.silence)?.duration
            session.warnOfNoService(options.service)
            return try await session.talk(
                keys.manner(isForOne: false, isHandsFree: silence ?? .zero > .zero),
                longest: options.voice.longest, plan)
        }
    }
}
