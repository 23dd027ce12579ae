// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The program that plays sound: `pw-play`, `paplay` or `aplay`, the first that is installed.
///
/// It reads a WAV file from its standard input. Its complaints are repeated in its words.
struct SoundPlayer: Sendable {
    /// For how long a program may take no sound, or go on when it has all of it.
    static let patience = Duration.seconds(10)

    private let path: String
    private let words: [String]

    /// Finds the program; a device has a name of ALSA's, which `aplay` alone understands.
    init(on device: String? = nil) throws(CommandFailure) {
        let programs =
            device.map { [["aplay", "-q", "-D", $0, "-"]] }
            ?? [["pw-play", "-"], ["paplay"], ["aplay", "-q", "-"]]
        let found = programs.lazy.compactMap { words in
            DesktopTool.path(of: words[0]).map { (path: $0, words: words) }
        }
        guard let first = found.first else {
            throw CommandFailure(
                device == nil
                    ? "no program that plays sound is installed: pw-play, paplay or aplay"
                    : "the program aplay, which plays on a device of ALSA's, is not installed",
                hint: "install one: sudo apt install alsa-utils; or copy the audio with: "
                    + "utter export last FILE", status: .configuration)
        }
        (path, words) = first
    }

    /// Runs the program until it has played a WAV file; `stop` kills it.
    ///
    /// `feed` writes that file, if it comes through a pipe, once the program runs.
    func play(
        _ input: consuming OwnedDescriptor, unless stop: Wakeup, feed: () -> Void = {}
    ) throws(CommandFailure) {
        let isInTime: Bool
        let status: Int32?
        let complaint: String
        do throws(SystemError) {
            let complaints = try makeMemoryFile()
            var process = try ChildProcess(
                path, words, environment: ScrubbedEnvironment.entries(), input: .given(input),
                error: .given(complaints.duplicate()))
            feed()
            isInTime = waitUntilReadable(
                process.ending, stop.descriptor, by: .now + Self.patience)
            status = try process.status(by: .now + .milliseconds(1))
            complaint = complaints.lastWords
        } catch {
            throw CommandFailure(error)
        }
        guard isInTime else { throw failure("it does not go on") }
        // Without a status it was told to stop.
        guard let status, status != 0 else { return }
        throw failure(complaint.isEmpty ? "it ended with status \(status >> 8)" : complaint)
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure("\(words[0]): \(reason)", hint: Hints.notPlayed, status: .noInput)
    }
}
