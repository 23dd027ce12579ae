// SPDX-License-Identifier: Apache-2.0

public import Cryptography
internal import Glibc

/// What a recognition endpoint listens on, recognises with and allows.
public struct RecognitionEndpointConfiguration: Sendable {
    /// The address or name to listen on; only this machine by default.
    public var host = "127.0.0.1"

    /// The TCP port to listen on, or 0 to let the system choose.
    public var port = 0

    /// What the recognisers know.
    public var model: RecognitionModel

    /// What clients must show, or nil to let every client in.
    package var bearerToken: BearerToken?

    /// With what encrypted bodies were encrypted, or nil to refuse them; a random key.
    public var bodyKey: EncryptionKey?

    /// How many bodies are recognised at once; beyond it, clients are told to come back.
    ///
    /// Each one costs a thread, a core during speech, and 35 MB with a grammar or
    /// 120 MB with the language model; given back when it is over, but for one.
    public var maximumConcurrentRecognitions = 2

    /// The longest body that is taken, in bytes.
    public var maximumBodyByteCount = 64 << 20

    /// How long a client may send nothing of its body before it gets 408.
    public var idleTimeout = Duration.seconds(60)

    var shutdownGracePeriod = Duration.seconds(10)

    /// Whether clients may ask for faults with `X-Misbehave`; for tests of clients.
    public var allowsFaults = false

    /// The folder for uploads that may be resumed, or nil to offer none.
    ///
    /// It belongs to one endpoint at a time; another one that is given it offers no resumption. A
    /// partial upload survives the endpoint's end, and its audio is removed once it is answered.
    public var uploadFolder: String?

    /// How long an upload is kept after its creation, whether it is answered or not.
    public var uploadLifetime = Duration.seconds(86_400)

    /// The most uploads of one address that are not answered; beyond it, 429.
    public var maximumUploadCountPerClient = 16

    /// The most bytes of one address's uploads that are not answered; beyond it, 429.
    public var maximumUploadByteCountPerClient = 256 << 20

    /// The most bytes of all uploads that are not answered; beyond it, 503.
    public var maximumUploadByteCount = 1 << 30

    /// How long a recogniser waits for an upload that has broken off to be resumed.
    ///
    /// After that it is given back, and the upload is recognised from its first byte later.
    var uploadPatience = Duration.seconds(30)

    /// The time between two reports of how many bytes of an upload are durable.
    var uploadReportInterval = Duration.seconds(1)

    /// The time in seconds since 1970, by which uploads expire.
    var now: @Sendable () -> Int = { time(nil) }

    /// Is told about every request when its answer is over; for a log.
    ///
    /// Called on a thread of the server, which must not be made to wait.
    package var onRequest: (@Sendable (ServedRequest) -> Void)?

    /// Creates a configuration with the defaults above.
    public init(model: RecognitionModel = .languageModel) {
        self.model = model
    }
}

/// What a recogniser knows: sounds, words and what may follow what.
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

    /// The file with the pronunciation of every word.
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
}

/// A secret that clients show in `Authorization: Bearer …` (RFC 6750).
///
/// It never appears in a description.
package struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let bytes: [UInt8]

    /// Takes a secret; nil when it is empty, or has characters that no header field can carry.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        bytes = Array(text.utf8)
    }

    package var description: String { "redacted" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Takes the same time for every wrong secret, so that none can be guessed byte by byte.
    func isShown(by authorization: String?) -> Bool {
        let field = Array((authorization ?? "").utf8)
        let scheme = Array("bearer ".utf8)
        guard field.count > scheme.count,
            // RFC 9110 §11.1: the scheme's case does not matter.
            zip(field, scheme).allSatisfy({ $0 | 0x20 == $1 })
        else { return false }
        let shown = field[scheme.count...].drop { $0 == 0x20 }
        var difference = shown.count ^ bytes.count
        for (index, byte) in bytes.enumerated() {
            let place = shown.startIndex + index
            difference |= Int(byte ^ (place < shown.endIndex ? shown[place] : 0))
        }
        return difference == 0
    }
}
