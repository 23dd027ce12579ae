// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A client of other hands, which reads what a peer has; it keeps no peer alive.
struct PeerClient: Sendable {
    let kind: Peer.Kind
    let port: UInt16

    /// What the client of other hands calls an object.
    func object(_ name: String) -> String {
        let root = "http://127.0.0.1:\(port)"
        return switch kind {
        case .apache: ":webdav,url='\(root)':voices/\(name)"
        case .openStackFiles:
            ":swift,user='\(Peer.user)',key='\(Peer.key)',auth='\(root)/auth/v1.0':voices/\(name)"
        default:
            ":s3,provider=Other,access_key_id='\(Peer.user)',secret_access_key='\(Peer.key)',"
                + "endpoint='\(root)':voices/\(name)"
        }
    }

    /// The names of all that is there, below a folder.
    func names(below folder: String = "") throws -> [String] {
        let found = try rclone(["lsf", "-R", "--files-only", object(folder)])
        return String(decoding: found, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// What it has under a name, as another client reads it; of a folder its only file.
    func bytes(of name: String) throws -> [UInt8] {
        var path = name
        if !kind.speaksS3, !name.contains(".") {
            let found = try names(below: name)
            try #require(found.count == 1, "\(name): \(found)")
            path += "/" + found[0]
        }
        return try rclone(["cat", object(path)])
    }

    /// It may try a request twice: OpenStack's server ends its answer to HEAD by an empty chunk, which
    /// breaks the next request of a connection where it comes late.
    @discardableResult
    func rclone(_ words: [String]) throws -> [UInt8] {
        let programs = try #require(Peer.folder) + "/bin"
        return try ForeignTool("\(programs)/rclone").run(
            words + [
                "--config", "/dev/null", "--retries", "1", "--low-level-retries", "2",
                "--contimeout", "2s", "--timeout", "10s",
            ]
        ).output
    }
}
