// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
package import LinuxPlatform
internal import Synchronization

/// A folder into which requests and their answers are written, as `docs/cassettes.md` describes.
package final class CassetteFolder: Sendable {
    private let folder: Folder
    private let firstFailure = Mutex<SystemError?>(nil)
    /// Whether the bytes of the bodies are written too; they hold the recording.
    let keepsBodies: Bool

    /// Opens the folder, and makes it for its owner alone when it is missing; blocks on the disk.
    ///
    /// - Throws: `SystemError` when it cannot be made.
    package init(path: String, keepsBodies: Bool = false) throws(SystemError) {
        folder = try Folder.make(at: path)
        self.keepsBodies = keepsBodies
    }

    /// Why a cassette is missing, if one is: known once the takes are over and `Pipeline.shutDown`
    /// has returned.
    package var failure: SystemError? { firstFailure.withLock { $0 } }

    /// Notes why a cassette could not be written; the first reason counts.
    func note(_ error: SystemError) { firstFailure.withLock { $0 = $0 ?? error } }

    /// Writes a cassette; blocks on the disk.
    func write(_ cassette: Cassette, named name: String) throws(SystemError) {
        try folder.replaceFile("\(name).json", with: cassette.json)
    }

    /// Makes a file for the bytes of a body; blocks on the disk.
    func createBody(named name: String) throws(SystemError) -> OwnedDescriptor {
        try folder.createFile("\(name).body")
    }
}
