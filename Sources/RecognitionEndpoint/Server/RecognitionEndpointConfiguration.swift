// SPDX-License-Identifier: Apache-2.0

/// What a recognition endpoint listens on, recognises with and allows.
public struct RecognitionEndpointConfiguration: Sendable {
    /// The address or name to listen on; only this machine by default.
    public var host = "127.0.0.1"

    /// The TCP port to listen on, or 0 to let the system choose.
    public var port = 0

    /// What the recognisers know.
    public var model: RecognitionModel

    /// What clients must show, or nil to let every client in.
    public var bearerToken: BearerToken?

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

    /// Is told about every request when its answer is over; for a log.
    ///
    /// Called on a thread of the server, which must not be made to wait.
    package var onRequest: (@Sendable (ServedRequest) -> Void)?

    /// Creates a configuration with the defaults above.
    public init(model: RecognitionModel = .languageModel) {
        self.model = model
    }
}
