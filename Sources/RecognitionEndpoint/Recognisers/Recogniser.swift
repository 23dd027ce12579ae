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

    /// PocketSphinx, which is in the program `utter-endpoint`.
    ///
    /// - Parameters:
    ///   - model: what it knows.
    ///   - program: the path of `utter-endpoint`.
    /// - Returns: a recogniser of US English.
    public static func pocketSphinx(_ model: RecognitionModel, by program: String) -> Recogniser {
        var recogniser = Recogniser(words: [program, "recogniser"] + model.arguments)
        // Its own bound on a recording's length is what bounds its memory.
        recogniser.memoryLimit = nil
        return recogniser
    }
}

/// What PocketSphinx knows: sounds, words and what may follow what.
///
/// A grammar of a few sentences is loaded in a tenth of a second and right almost always, but it
/// hears nothing else: other speech comes back as sentences of the grammar. The language model
/// hears any English and gets a third of the words wrong.
public struct RecognitionModel: Sendable, Hashable {
    enum Search: Sendable, Hashable {
        /// An n-gram language model: any sequence, some likelier than others.
        case languageModel(path: String)
        /// A grammar in JSGF (Java Speech Grammar Format 1.0): only its sentences.
        case grammar(path: String)
    }

    var search: Search

    /// The folder of the acoustic model, for 16 kHz.
    var acousticModelFolder = Self.debianFolder + "/en-us"

    var dictionaryPath = Self.debianFolder + "/cmudict-en-us.dict"

    /// The US English language model.
    public static let languageModel = RecognitionModel(
        search: .languageModel(path: debianFolder + "/en-us.lm.bin"))

    /// A grammar over the words of US English.
    public static func grammar(_ path: String) -> RecognitionModel {
        RecognitionModel(search: .grammar(path: path))
    }

    /// Where the Debian package `pocketsphinx-en-us` puts its model.
    static let debianFolder = "/usr/share/pocketsphinx/model/en-us"

    /// What the program is told; `init(arguments:)` reads it.
    var arguments: [String] {
        switch search {
        case .languageModel(let path):
            ["language-model", path, acousticModelFolder, dictionaryPath]
        case .grammar(let path): ["grammar", path, acousticModelFolder, dictionaryPath]
        }
    }

    /// - Returns: nil when these are no arguments of a model.
    package init?(arguments: [String]) {
        guard arguments.count == 4 else { return nil }
        switch arguments[0] {
        case "language-model": search = .languageModel(path: arguments[1])
        case "grammar": search = .grammar(path: arguments[1])
        default: return nil
        }
        (acousticModelFolder, dictionaryPath) = (arguments[2], arguments[3])
    }

    init(search: Search) { self.search = search }
}
