// SPDX-License-Identifier: Apache-2.0

package import Capture
public import Cryptography
internal import Glibc
internal import HTTPTypes

/// The address, the recogniser and the limits of a recognition endpoint.
public struct RecognitionEndpointConfiguration: Sendable {
    /// The address or name to listen on; only this machine by default.
    public var host = "127.0.0.1"

    /// The TCP port to listen on, or 0 to let the system choose.
    public var port = 0

    /// A Unix socket that listens already, for the programs of one person; nil: there is none.
    ///
    /// The caller closes it.
    private(set) var localSocket: Int32?

    /// The program that recognises.
    public var recogniser: Recogniser

    /// The token that clients must show, or nil to let every client in.
    package var bearerToken: BearerToken?

    /// The page for browsers; nil: there is none.
    private(set) var page: EndpointPage?

    /// The key of encrypted bodies, or nil to refuse them; a random key.
    public var bodyKey: EncryptionKey?

    /// Whether an endpoint with a key takes plain bodies, too.
    public var takesPlainBodies = false

    /// The program that decodes what we do not, or nil to refuse that.
    package var converter: Converter?

    /// How many bodies are recognised at once; beyond it, they wait for their turn.
    ///
    /// Each one costs a thread and a recogniser's program, which ends after a minute without work, but
    /// for one.
    public var maximumConcurrentRecognitions = 2

    /// How many bodies wait for their turn; beyond it, clients are told to come back.
    var maximumWaitingRecognitions = 16

    /// How many clients speak WebSocket at once; beyond it, they are told to come back.
    var maximumRealtimeSessions = 64

    /// How long a realtime session lasts in which nothing is said.
    var longestSilence = Duration.seconds(3_600)

    /// The folder for the files without a name that hold bodies until their answers are there.
    var temporaryFolder = Self.usualTemporaryFolder

    static let usualTemporaryFolder = "/var/tmp"

    /// The longest body that is taken, in bytes: two hours of speech in PCM.
    public var maximumBodyByteCount = 256 << 20

    /// How long a client may send nothing of its body before it gets 408.
    public var idleTimeout = Duration.seconds(60)

    var patience = HTTPConventions.Patience()

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

    /// The executor of the exchanges; the standard executor's threads wake once a second.
    package var executor: (any TaskExecutor)?

    /// Is told about every request when its answer is over; for a log.
    ///
    /// Called on a thread of the server, which must not be made to wait.
    package var onRequest: (@Sendable (ServedRequest) -> Void)?

    /// Has the endpoint serve the programs of one person at a Unix socket, too.
    package mutating func listen(at socket: Int32) { localSocket = socket }

    /// Whether a request shows the operator's token.
    func isOperator(_ fields: HTTPFields) -> Bool {
        bearerToken?.isShown(by: fields[.authorization]) == true
    }

    package mutating func serve(_ page: EndpointPage) { self.page = page }

    /// Creates a configuration with the defaults above.
    public init(recogniser: Recogniser) {
        self.recogniser = recogniser
    }
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
