// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

struct Connection: Sendable {
    /// Thrown to close a connection that must not carry another request.
    struct End: Error {}

    private let channel: any Channel

    init(_ channel: any Channel) {
        self.channel = channel
    }

    /// Ends the sending side after an answer went out before its body had come in.
    ///
    /// The caller then reads the rest of the body and ends the connection. If the connection closed
    /// at once, the client's system would discard the answer when it hears that bytes it sent
    /// were not taken (RFC 9112 §9.6).
    ///
    /// - Returns: what closes the connection when the client goes on sending; to be cancelled.
    func linger() async -> Scheduled<Void> {
        // The client may be gone already; then there is nothing to be closed.
        try? await channel.close(mode: .output)
        let channel = channel
        return channel.eventLoop.scheduleTask(in: TimeAmount(Self.lingerTime)) {
            channel.close(promise: nil)
        }
    }

    /// Does something when the time is over; to be cancelled before.
    func schedule(
        in time: Duration, _ body: @escaping @Sendable () -> Void
    ) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: TimeAmount(time), body)
    }

    /// Notes that the audio of the request that is being answered is over.
    func noteHeard(_ duration: Double) {
        channel.triggerUserOutboundEvent(RequestRecorder.Heard(duration: duration), promise: nil)
    }

    func close() async {
        // Whether it was closed already does not matter.
        try? await channel.close()
    }

    /// How long a client may keep sending after a refusal.
    static let lingerTime = Duration.seconds(5)
}
