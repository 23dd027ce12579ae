// SPDX-License-Identifier: Apache-2.0

/// What a recogniser knows: sounds, words and what may follow what.
///
/// A grammar of a few sentences is loaded in a tenth of a second and right almost always, but it
/// hears nothing else: other speech comes back as sentences of the grammar. The language model
/// hears any English and gets a third of the words wrong.
public struct RecognitionModel: Sendable, Hashable {
    /// Which word sequences are possible.
    public enum Search: Sendable, Hashable {
        /// An n-gram language model: any sequence, some likelier than others.
        case languageModel(path: String)
        /// A grammar in JSGF (Java Speech Grammar Format 1.0): only its sentences.
        case grammar(path: String)
    }

    /// Which word sequences are possible.
    public var search: Search

    /// The folder of the acoustic model, for 16 kHz.
    public var acousticModelFolder: String

    /// The file with the pronunciation of every word.
    public var dictionaryPath: String

    /// Creates a model; the acoustic model and the dictionary are US English by default.
    public init(
        search: Search, acousticModelFolder: String = debianFolder + "/en-us",
        dictionaryPath: String = debianFolder + "/cmudict-en-us.dict"
    ) {
        self.search = search
        self.acousticModelFolder = acousticModelFolder
        self.dictionaryPath = dictionaryPath
    }

    /// The US English language model.
    public static let languageModel = RecognitionModel(
        search: .languageModel(path: debianFolder + "/en-us.lm.bin"))

    /// A grammar over the words of US English.
    public static func grammar(_ path: String) -> RecognitionModel {
        RecognitionModel(search: .grammar(path: path))
    }

    /// Where the Debian package `pocketsphinx-en-us` puts its model.
    public static let debianFolder = "/usr/share/pocketsphinx/model/en-us"
}
