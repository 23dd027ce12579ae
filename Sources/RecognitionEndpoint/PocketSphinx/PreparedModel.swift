// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A model whose files are readable and whose grammar has been read.
struct PreparedModel: Sendable {
    let model: RecognitionModel

    /// The grammar in the one form that PocketSphinx is given; nil with a language model.
    let grammar: JSGFGrammar?

    /// Checks the files: PocketSphinx itself says little about what is missing.
    init(_ model: RecognitionModel) throws(ModelError) {
        self.model = model
        let folder = model.acousticModelFolder
        try Self.check("acoustic model", folder)
        try Self.check("acoustic model", folder + "/mdef")
        try Self.check("dictionary", model.dictionaryPath)
        switch model.search {
        case .languageModel(let path):
            try Self.check("language model", path)
            grammar = nil
        case .grammar(let path):
            grammar = try Self.readGrammar(path)
        }
    }

    private static func check(_ what: String, _ path: String) throws(ModelError) {
        guard unsafe access(path, R_OK) == 0 else {
            let reason = SystemError.last("access").reason
            throw .fileUnreadable(what: what, path: path, reason: reason)
        }
    }

    private static func readGrammar(_ path: String) throws(ModelError) -> JSGFGrammar {
        let bytes: [UInt8]
        do {
            bytes = try readFile(path, limit: maximumGrammarByteCount)
        } catch {
            throw .fileUnreadable(what: "grammar", path: path, reason: error.reason)
        }
        do {
            return try JSGFGrammar(parsing: bytes)
        } catch {
            throw .grammarMalformed(path: path, line: error.line, reason: error.reason)
        }
    }

    private static let maximumGrammarByteCount = 1 << 20
}

enum ModelError: Error, CustomStringConvertible {
    /// A file of the model cannot be read; `what` names its part.
    case fileUnreadable(what: String, path: String, reason: String)
    /// The grammar's text is not JSGF, or uses what is not supported.
    case grammarMalformed(path: String, line: Int, reason: String)
    /// PocketSphinx refused the model; `reason` is its own word for it.
    case refused(reason: String)

    var description: String {
        switch self {
        case .fileUnreadable(let what, let path, let reason):
            "cannot read the \(what) '\(path)': \(reason)"
        case .grammarMalformed(let path, let line, let reason):
            "the grammar '\(path)' is not understood: line \(line): \(reason)"
        case .refused(let reason):
            "PocketSphinx cannot use this model: \(reason)"
        }
    }

    var hint: String {
        switch self {
        case .fileUnreadable(let what, let path, _):
            if path.hasPrefix(RecognitionModel.debianFolder) {
                "install it with 'apt-get install pocketsphinx-en-us', or name another model"
            } else {
                "check the path of the \(what)"
            }
        case .grammarMalformed:
            "correct the grammar: '#JSGF V1.0;', 'grammar NAME;', then rules such as "
                + "'public <order> = go (forward | back);'"
        case .refused:
            "check that every word of the grammar is in the dictionary, and that acoustic "
                + "model, dictionary and language model belong together"
        }
    }
}
