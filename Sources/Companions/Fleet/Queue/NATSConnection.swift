// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import Glibc
internal import LinuxPlatform
internal import Utter

/// Where the queue is, and what opens it.
package struct QueuePlace: Sendable {
    /// Such as `nats://queue.example:4222`.
    var servers: [String]
    /// The name of the stream.
    package var name = "UTTER"
    /// A file of credentials (`nsc` writes them); nil: none.
    package var credentialsFile: String?
    package var user: String?
    package var password: String?
    package var token: String?
    /// A file of certificates to trust; nil: the system's.
    package var certificateFile: String?
    package var lease = Duration.seconds(60)
    package var replicas = 1

    package init(servers: [String]) { self.servers = servers }
}

/// A connection to the servers of the queue, which comes back by itself for ever.
///
/// `@unchecked Sendable` because the library's connection and context are safe from any thread.
@safe final class NATSConnection: @unchecked Sendable {
    let connection: OpaquePointer
    let context: OpaquePointer
    /// The library waits so long for an answer, in milliseconds.
    static let patience: Int64 = 5_000

    init(_ place: QueuePlace) throws(QueueFailure) {
        let options = unsafe try Self.options(place)
        defer { unsafe natsOptions_Destroy(options) }
        var connection: OpaquePointer?
        try Self.check(
            unsafe natsConnection_Connect(&connection, options),
            "connect to \(place.servers.joined(separator: ", "))")
        guard let connection = unsafe connection else {
            throw QueueFailure(reason: "no connection")
        }
        var context: OpaquePointer?
        let status = unsafe natsConnection_JetStream(&context, connection, nil)
        guard status == NATS_OK, let context = unsafe context else {
            unsafe natsConnection_Destroy(connection)
            throw QueueFailure(reason: "the queue server has no JetStream")
        }
        unsafe (self.connection, self.context) = (connection, context)
    }

    deinit {
        unsafe jsCtx_Destroy(context)
        unsafe natsConnection_Destroy(connection)
    }

    private static func options(_ place: QueuePlace) throws(QueueFailure) -> OpaquePointer {
        var made: OpaquePointer?
        try check(unsafe natsOptions_Create(&made), "options")
        guard let options = unsafe made else { throw QueueFailure(reason: "no memory") }
        var statuses = unsafe [
            natsOptions_SetName(options, "utter-work"),
            natsOptions_SetAllowReconnect(options, true),
            natsOptions_SetMaxReconnect(options, -1),
            natsOptions_SetReconnectWait(options, 1_000),
            natsOptions_SetTimeout(options, patience),
            natsOptions_SetPingInterval(options, 30_000),
            natsOptions_SetFailRequestsOnDisconnect(options, true),
        ]
        var servers = unsafe place.servers.map { unsafe UnsafePointer(strdup($0)) }
        unsafe statuses.append(natsOptions_SetServers(options, &servers, Int32(servers.count)))
        unsafe servers.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
        if let file = place.credentialsFile {
            unsafe statuses.append(natsOptions_SetUserCredentialsFromFiles(options, file, nil))
        }
        if let user = place.user {
            unsafe statuses.append(natsOptions_SetUserInfo(options, user, place.password ?? ""))
        }
        if let token = place.token { unsafe statuses.append(natsOptions_SetToken(options, token)) }
        if place.servers.contains(where: { $0.hasPrefix("tls:") }) {
            unsafe statuses.append(natsOptions_SetSecure(options, true))
        }
        if let file = place.certificateFile {
            unsafe statuses.append(natsOptions_LoadCATrustedCertificates(options, file))
        }
        for status in statuses where status != NATS_OK {
            unsafe natsOptions_Destroy(options)
            throw QueueFailure(reason: "the queue cannot be reached so: \(text(of: status))")
        }
        return unsafe options
    }

    /// Asks again while the servers have no leader, which they choose within seconds.
    ///
    /// For what may be done twice; blocks for 15 s, and what a last answer takes.
    static func settled(_ ask: (inout jsErrCode) -> natsStatus) -> (natsStatus, jsErrCode) {
        let end = ContinuousClock.now + .seconds(15)
        while true {
            var code = jsErrCode(0)
            let status = ask(&code)
            let isUnsettled =
                code == JSClusterNotAvailErr
                || [NATS_NO_RESPONDERS, NATS_TIMEOUT, NATS_CONNECTION_DISCONNECTED].contains(status)
            guard isUnsettled, .now < end else { return (status, code) }
            _ = waits(.milliseconds(500))
        }
    }

    static func check(_ status: natsStatus, _ call: String) throws(QueueFailure) {
        guard status != NATS_OK else { return }
        throw QueueFailure(reason: "the queue: \(call): \(text(of: status))")
    }

    /// The library's words for the last failure of this thread.
    static func text(of status: natsStatus) -> String {
        let known = unsafe natsStatus_GetText(status).map { unsafe String(cString: $0) } ?? ""
        let last = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
        // Its source file and line stand before it.
        let words = last.firstRange(of: "): ").map { String(last[$0.upperBound...]) } ?? last
        return words.isEmpty ? known : TerminalText.singleLine(TerminalText.sanitized(words))
    }
}
