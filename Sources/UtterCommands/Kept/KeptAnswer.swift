// SPDX-License-Identifier: Apache-2.0

import Utter

/// An answer that was kept because it could not be read, read once more by another rule.
///
/// It may have been paid for, and the service need not be asked again.
struct KeptAnswer {
    private let folder: TakeFolder
    private var manifest: TakeManifest

    /// Finds the answer beside a take; nil when there is none, or a part only.
    init?(of folder: TakeFolder, _ manifest: TakeManifest) {
        guard manifest.isUnreadAnswerWhole == true, manifest.state == .kept else { return nil }
        self.folder = folder
        self.manifest = manifest
    }

    /// Reads it by a rule, and notes the transcript in the take.
    ///
    /// Blocks on the disk.
    ///
    /// - Returns: the transcript; nil when the rule finds none either, or the take is in use.
    mutating func text(by rule: AnswerRule) -> String? {
        guard let bytes = try? folder.unreadAnswer(of: manifest),  // The service is asked then.
            let text = Self.text(in: bytes, by: rule), !text.isEmpty,
            (try? folder.lock()) == true  // As above: resending says that it is in use.
        else { return nil }
        defer { folder.unlock() }
        manifest.transcript = text
        (manifest.unreadAnswer, manifest.isUnreadAnswerWhole) = (nil, nil)
        (manifest.isHeld, manifest.failures) = (nil, nil)
        manifest.keep(.answered, reason: nil)
        // Not noted, it is asked for again; the text is not lost by that.
        try? folder.save(manifest)
        return text
    }

    private static func text(in bytes: [UInt8], by rule: AnswerRule) -> String? {
        var decoder = rule.makeDecoder(mediaType: nil)
        var transcript = Transcript()
        do throws(AnswerError) {
            transcript.apply(try decoder.accumulate(bytes.span))
            transcript.apply(try decoder.finish())
        } catch {
            return nil
        }
        return transcript.displayText
    }
}
