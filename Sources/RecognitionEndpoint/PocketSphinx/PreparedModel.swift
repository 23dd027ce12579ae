// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A model whose files are readable and whose grammar has been read.
struct PreparedModel: Sendable {
    let model: RecognitionModel

    /// The grammar in the one form that PocketSphinx is given; nil with a language model.
    let grammar: JSGFGrammar?

    /// Checks the files of a model.
    ///
    /// PocketSphinx itself says little about what is missing.
    init(_ model: RecognitionModel) throws(RecognitionEndpointError) {
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

    private static func check(
        _ what: String, _ path: String
    ) throws(RecognitionEndpointError) {
        guard unsafe access(path, R_OK) == 0 else {
            let reason = SystemError.last("access").reason
            throw .modelFileUnreadable(what: what, path: path, reason: reason)
        }
    }

    private static func readGrammar(
        _ path: String
    ) throws(RecognitionEndpointError) -> JSGFGrammar {
        let bytes: [UInt8]
        do {
            bytes = try readFile(path)
        } catch {
            throw .modelFileUnreadable(what: "grammar", path: path, reason: error.reason)
        }
        guard bytes.count <= maximumGrammarByteCount else {
            let reason = "it is longer than \(maximumGrammarByteCount) bytes"
            throw .modelFileUnreadable(what: "grammar", path: path, reason: reason)
        }
        do {
            return try JSGFGrammar(parsing: bytes)
        } catch {
            throw .grammarMalformed(path: path, line: error.line, reason: error.reason)
        }
    }

    /// Reads a file up to one byte more than a grammar may have.
    private static func readFile(_ path: String) throws(SystemError) -> [UInt8] {
        let number = try retryingInterrupts("open") { unsafe open(path, O_RDONLY | O_CLOEXEC) }
        let file = OwnedDescriptor(taking: number)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumGrammarByteCount {
            let count = try retryingInterrupts("read") {
                unsafe read(file.number, &buffer, buffer.count)
            }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        return bytes
    }

    private static let maximumGrammarByteCount = 1 << 20
}
