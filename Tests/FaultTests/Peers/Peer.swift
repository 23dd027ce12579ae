// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A store that runs while this value lives.
final class Peer: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case seaweedfs, moto, rclone
        /// OpenStack Swift over S3, and by plain `PUT` with its token in a field of its own.
        case openStack, openStackFiles
        /// Apache's WebDAV.
        case apache

        /// Whether it has uploads in parts; the others get each recording in one `PUT`.
        var speaksS3: Bool { self != .openStackFiles && self != .apache }

        fileprivate var isOpenStack: Bool { self == .openStack || self == .openStackFiles }

        /// Those that this machine can run.
        static let here = allCases.filter { !$0.isOpenStack || OpenStackSwift.mayRun }

        /// What a person writes of the service there.
        func profile(at port: UInt16) -> String {
            let root = "http://127.0.0.1:\(port)/"
            return switch self {
            case .apache: "extends = 'webdav'\nurl = '\(root)'\n"
            case .openStackFiles:
                """
                extends = 'webdav'
                url = '\(root)'
                auth = { kind = 'header', header = 'X-Auth-Token', variable = 'SWIFT_TOKEN' }

                """
            case .openStack:
                """
                extends = 's3'
                url = '\(root){bucket}/{key}'
                [exchange.whole]
                headers = { If-None-Match = "" }

                """
            default: "extends = 's3'\nurl = '\(root){bucket}/{key}'\n"
            }
        }
    }

    /// Where their programs are; nil when tests do without.
    static let folder = ProcessInfo.processInfo.environment["UTTER_PEERS"]

    /// An account and a user of it, as OpenStack Swift wants them.
    static let user = "test:tester"
    static let key = "testsecret"

    let kind: Kind
    let port: UInt16
    /// What a plain `PUT` has for its token.
    let token: String?
    /// The server, first, and what it needs to live.
    private let parts: [any Sendable]

    init(_ kind: Kind) async throws {
        self.kind = kind
        let place = try TemporaryFolder()
        switch kind {
        case .apache:
            let server = try await StaticServer(.apache, of: place)
            (port, parts) = (server.port, [server, place])
        case .openStack, .openStackFiles:
            try #require(OpenStackSwift.obstacle == nil, "\(OpenStackSwift.obstacle ?? "")")
            let reservation = try ReservedPort()
            let run = try OpenStackSwift.start(in: place, port: reservation.port)
            try #require(
                await reservation.waitUntilOpen(), "\(String(decoding: run.error, as: UTF8.self))")
            (port, parts) = (reservation.port, [run, place, reservation])
        case .seaweedfs, .moto, .rclone:
            let ports = try (0..<8).map { _ in try ReservedPort() }
            port = ports[0].port
            let (program, words) = try Self.command(kind, ports.map(\.port), place)
            let path = try #require(Self.folder) + "/bin/\(program)"
            // SeaweedFS keeps files in the folder of temporary files.
            let scratch = try TemporaryFolder()
            var environment = CommandRun.cleanEnvironment
            environment["TMPDIR"] = scratch.path
            parts = [try CommandRun(path, words, environment: environment), place, scratch, ports]
        }
        token =
            kind == .openStackFiles
            ? try OpenStackSwift.token(user: Self.user, key: Self.key, port: port) : nil
        // It refuses until it is there.
        let isReady = await comesTrue { [self] in (try? rclone(["mkdir", object("")])) != nil }
        let said = (parts.first as? CommandRun)?.error ?? []
        try #require(
            isReady, "\(kind) does not take requests: \(String(decoding: said, as: UTF8.self))")
    }

    deinit { (parts.first as? CommandRun)?.signal(SIGKILL) }

    private static func command(
        _ kind: Kind, _ ports: [UInt16], _ place: TemporaryFolder
    ) throws -> (program: String, words: [String]) {
        let port = ports[0]
        switch kind {
        case .seaweedfs:
            try place.write(
                Array(
                    """
                    {"identities":[{"name":"t","actions":["Admin","Read","Write","List"],
                    "credentials":[{"accessKey":"\(user)","secretKey":"\(key)"}]}]}
                    """.utf8), to: "keys.json")
            let parts = [
                "s3.port.grpc", "master.port", "master.port.grpc", "volume.port",
                "volume.port.grpc", "filer.port", "filer.port.grpc",
            ]
            return (
                "weed",
                [
                    "-logtostderr", "server", "-ip=127.0.0.1", "-dir=\(place.path)",
                    "-volume.max=30", "-filer", "-s3", "-s3.port=\(port)",
                    "-s3.config=\(place.path("keys.json"))", "-s3.port.iceberg=0",
                    "-s3.port.lance=0",
                ] + zip(parts, ports.dropFirst()).map { "-\($0)=\($1)" }
            )
        case .rclone:
            return (
                "rclone",
                [
                    "serve", "s3", "--addr", "127.0.0.1:\(port)", "--auth-key", "\(user),\(key)",
                    place.path,
                ]
            )
        default: return ("moto_server", ["-H", "127.0.0.1", "-p", "\(port)"])
        }
    }

    /// Where a person has utter send what is to be named so, through the link at a port.
    ///
    /// A plain `PUT` gets a folder of that name, in which each take has its own.
    func place(_ name: String, at port: UInt16) -> String {
        let isWhole = name.hasSuffix(".wav") || name.hasSuffix("{ext}")
        let file = isWhole ? name : name + "/{id}.{ext}"
        return switch kind {
        case .apache: "http://127.0.0.1:\(port)/voices/\(file)"
        case .openStackFiles: "http://127.0.0.1:\(port)/v1/AUTH_test/voices/\(file)"
        default: "s3://voices/\(name)"
        }
    }

    var client: PeerClient { PeerClient(kind: kind, port: port) }

    func object(_ name: String) -> String { client.object(name) }

    func names(below folder: String = "") throws -> [String] { try client.names(below: folder) }

    func bytes(of name: String) throws -> [UInt8] { try client.bytes(of: name) }

    @discardableResult
    func rclone(_ words: [String]) throws -> [UInt8] { try client.rclone(words) }
}
