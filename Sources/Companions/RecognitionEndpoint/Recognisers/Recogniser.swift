// SPDX-License-Identifier: Apache-2.0

/// A program that recognises speech; docs/recogniser.md specifies what it reads and writes.
///
/// The endpoint starts it when it is needed, without descriptors other than its three standard ones,
/// in a process group of its own, and it ends with the endpoint. One that crashes, hangs, writes what
/// is no line of the protocol or takes too much memory is replaced.
public struct Recogniser: Sendable, Hashable {
    /// The program with its arguments.
    var words: [String]

    /// The variables of the program, as "NAME=value"; nothing else of the environment reaches it.
    public var environment = ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"]

    /// The most memory that a process of the program may take for its data, in bytes; nil without a
    /// limit.
    public var memoryLimit: Int? = 8 << 30

    /// How long the program may take to say that it is ready, after its start or a recording.
    var startTime = Duration.seconds(300)

    /// How long the program may take in no sound, and at least may take for the final text.
    var patience = Duration.seconds(60)

    /// A command of the shell that runs such a program.
    ///
    /// When the command is a single program, the shell replaces itself with it, so that the program ends
    /// with the endpoint. In a longer command, write `exec` before the program.
    public static func command(_ text: String) -> Recogniser {
        let isOne = !text.contains { ";|&<>()\n".contains($0) } && !text.hasPrefix("exec ")
        // Unlike exec, env takes variables before the program.
        return Recogniser(words: ["sh", "-c", isOne ? "exec env \(text)" : text])
    }
}
