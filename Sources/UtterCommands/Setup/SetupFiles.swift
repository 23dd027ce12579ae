// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import UtterSettings
internal import UtterTerminal

/// The files that `utter setup` writes: the settings, and a token that was typed.
struct SetupFiles {
    let answers: SetupAnswers

    private var tokenPath: String { ConfigurationFile.expanded(answers.tokenFileName) }

    /// The files that are there already, and would be replaced.
    var existing: [String] {
        var paths = [ConfigurationFile.path]
        if case .typed = answers.token { paths.append(tokenPath) }
        return paths.filter { path in
            var status = stat()
            return unsafe lstat(path, &status) == 0
        }
    }

    /// Writes them, each whole or not at all; the settings last.
    ///
    /// What was there before gets `.old` behind its name.
    func write() throws(CommandFailure) {
        // From here on Ctrl-C waits: it is over in a moment.
        Signals.block()
        try ConfigurationFile.makeFolder()
        if case .typed(let token) = answers.token { try replace(tokenPath, with: token + "\n") }
        try replace(ConfigurationFile.path, with: answers.text())
    }

    private func replace(_ path: String, with text: String) throws(CommandFailure) {
        // What a run that was killed has left.
        unlink(path + ".new")
        try SecretFile.make(Array(text.utf8), at: path + ".new")
        unlink(path + ".old")
        _ = unsafe link(path, path + ".old")
        do throws(SystemError) {
            try retryingInterrupts("rename") { unsafe rename(path + ".new", path) }
        } catch {
            unlink(path + ".new")
            throw CommandFailure.cannotWrite(path, error)
        }
    }

    private func unlink(_ path: String) {
        // Mostly there is none.
        _ = unsafe Glibc.unlink(path)
    }
}
