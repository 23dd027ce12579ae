// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
package import LinuxPlatform
internal import SpeechService
internal import Synchronization
package import Upload

/// A folder into which requests and their answers are written, as `docs/cassettes.md` describes.
package final class CassetteFolder: Sendable {
    private let folder: Folder
    private let firstFailure = Mutex<SystemError?>(nil)
    /// The bodies hold the recording.
    private let keepsBodies: Bool

    /// Makes the folder for its owner alone when it is missing; blocks on the disk.
    package init(path: String, keepsBodies: Bool = false) throws(SystemError) {
        folder = try Folder.make(at: path)
        self.keepsBodies = keepsBodies
    }

    /// Writes requests down, in front of their observers.
    package var observing: TransferObserving {
        { request, name, service, observer, writes in
            CassetteRecorder(
                of: request, named: name, to: service, into: self, tells: observer,
                writes: writes)
        }
    }

    /// Why a cassette is missing, if one is: known once the takes are over and `Pipeline.shutDown`
    /// has returned.
    package var failure: SystemError? { firstFailure.withLock { $0 } }

    /// With the digest of a body that was sent whole, and its bytes if they are wanted; blocks on the
    /// disk.
    func write(
        _ recorded: Cassette, _ body: RequestBody, named name: String, _ redaction: Redaction
    ) {
        var cassette = recorded
        let byteCount = cassette.request.body?.bytes ?? 0
        do throws(SystemError) {
            if body.isWhole(at: byteCount) { cassette.request.body?.sha256 = try body.sha256() }
            if keepsBodies {
                let file = try folder.createFile("\(name).body")
                try body.copy(upTo: byteCount, to: file.number) { redaction.redacted($0) }
                cassette.request.body?.file = "\(name).body"
            }
            try folder.replaceFile("\(name).json", with: cassette.json)
        } catch {
            // A cassette is for looking at alone; the take does not depend on it.
            firstFailure.withLock { $0 = $0 ?? error }
        }
    }
}
