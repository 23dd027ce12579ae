// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterSettings
internal import UtterTerminal

/// The command of `--run`, which reads a text.
struct TextCommand {
    private static let interval = Duration.milliseconds(100)

    let command: String

    /// Runs the command with `sh -c`, and waits for its end, however long that takes; it is killed
    /// when the program is to end.
    ///
    /// It has the terminal to itself, where that is lent, and no secret in its environment.
    func run(
        _ bytes: [UInt8], in circumstances: TextSink.Circumstances
    ) throws(CommandFailure) {
        let terminal = circumstances.lendsTerminal ? ForegroundTerminal() : nil
        defer { terminal?.takeBack() }
        let status: Int32?
        do throws(SystemError) {
            let input = try makeMemoryFile(bytes)
            var process = try ChildProcess(
                "/bin/sh", ["sh", "-c", command], environment: ScrubbedEnvironment.entries(),
                input: .given(input), output: .shared(circumstances.commandOutput),
                terminal: terminal?.number)
            var ended = try process.status(by: .now + Self.interval)
            while ended == nil, !circumstances.isOver() {
                ended = try process.status(by: .now + Self.interval)
            }
            status = ended
        } catch {
            throw failure("cannot be run: \(error.reason)")
        }
        guard let status else { throw failure("was killed before its end") }
        guard status == 0 else { throw failure(ChildProcess.end(by: status)) }
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure(
            "--run: the command \(reason)",
            hint: "try it by itself: utter last | sh -c \(ShellWord.quoted(command))",
            status: .localIO)
    }
}

/// The environment of programs that we run: without what could hold a secret.
enum ScrubbedEnvironment {
    /// Ours, whatever services there are; a URL may have a token in its query.
    private static let own: Set<String> = [
        ServiceVariables.tokenName, ServiceVariables.urlName, ServiceVariables.proxyLoginName,
        "CREDENTIALS_DIRECTORY",
    ]

    /// As "NAME=value".
    static func entries() -> [String] {
        let secret = own.union(Environment.secrets).union(declared)
        return Environment.all { !secret.contains($0) }
    }

    /// The names of all variables in which a service of the person's, or one that comes with the
    /// program, looks for a secret.
    private static let declared: Set<String> = {
        var names: Set<String> = []
        // An unreadable file of settings names no variable that a secret was read from.
        let configuration = try? Configuration.current()
        for token in configuration?.services.values.map(\.token) ?? [] {
            if case .variable(let name)? = token { names.insert(name) }
        }
        for service in Services.names {
            // Nor does an unreadable profile.
            for part in (try? Services.profile(service))?.authentication.parts ?? [] {
                if case .variable(let name)? = part.source { names.insert(name) }
            }
        }
        return names
    }()
}
