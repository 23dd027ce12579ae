// SPDX-License-Identifier: Apache-2.0

import Utter
import UtterTerminal

/// Files on their way, one after the other.
///
/// The defaults are those of an empty command line, if it were allowed.
struct Sending: QuickCommand {
    /// WAV and Ogg Opus files, or - for standard input.
    var files: [String] = []
    var pace = Pace.unpaced
    /// Of standard input, when that is no such file.
    var rawFormat = StreamFormat(sampleRate: 16_000, channelCount: 1)
    /// How the recordings travel.
    var format = AudioFormat.pcm
    var service = ServiceOptions.standard
    var output = OutputOptions.standard
    var keep = KeepOptions.standard

    func run() async throws {
        try await Launch.takes(output: output, keep: keep, listensToEnter: false) {
            session throws(CommandFailure) in
            let plan = try service.planner(format: format)
            // The first failure is what the caller hears of; the other files are sent all the
            // same, unless somebody wants to leave.
            var status = ExitStatus.textPrinted
            var session = session
            session.namesTexts = files.count > 1
            for (index, file) in files.enumerated() {
                let place = StatusLine.Place(number: index + 1, count: files.count)
                session.file = file
                var next: ExitStatus
                do throws(CommandFailure) {
                    let source = try source(file) { session.farewellStatus != nil }
                    next = await session.run(
                        plan(source, CapturePlan()),
                        as: file == "-" || pace != .unpaced ? .relaying : .sending,
                        place: files.count > 1 ? place : nil,
                        isServiceUnset: service.isServiceUnset)
                } catch {
                    next = session.farewellStatus ?? session.refuse(error)
                }
                if status == .textPrinted { status = next }
                if next.isByRequest { return next }
            }
            return status
        }
    }

    private func source(
        _ file: String, isOver: () -> Bool
    ) throws(CommandFailure) -> any CaptureSource {
        guard file == "-" else { return FileReplay(path: file, pace: pace) }
        return try StandardInput.source(pace: pace, rawFormat: rawFormat, isOver: isOver)
    }
}
