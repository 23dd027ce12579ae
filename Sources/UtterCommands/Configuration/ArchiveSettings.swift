// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Utter
internal import UtterControl
internal import UtterTerminal

extension KnownSettings {
    /// Where answered takes are stored; nil: nowhere.
    ///
    /// The place is said as `--to` says one: `s3://BUCKET/KEY`, or a URL that takes files by PUT;
    /// the service is another one's profile or table of settings. If it `isOptional`, an unusable
    /// place is only said, and answered takes wait for it.
    static func archive(isOptional: Bool = false) throws(CommandFailure) -> Archive? {
        guard let place = try archivePlace.value() else { return nil }
        do throws(CommandFailure) {
            return try archive(at: place)
        } catch {
            guard isOptional else { throw error }
            StandardError.line("warning: \(error.message)")
            return Archive(unusableAt: place)
        }
    }

    private static let placeHint = "write it as s3://BUCKET/{date}/{id}.{ext}"

    private static func archive(at place: String) throws(CommandFailure) -> Archive {
        let isStore = place.lowercased().hasPrefix("s3:")
        let service = try archiveService.value() ?? (isStore ? "s3" : "webdav")
        do {
            let options = try ServiceOptions.parse(["--to", place, "--service", service])
            var archive = try Archive(try options.trialPlan())
            guard archive.secretsCanBeAsked else {
                throw CommandFailure(
                    "a secret in a URL would be on the disk",
                    hint: "write {token} there, and name its source in the table of a service",
                    status: .configuration)
            }
            archive.decrypts = try archiveDecrypts.value() ?? false
            return archive
        } catch let error as CommandFailure {
            let reason = error.message.trimmingPrefix("--to: ")
            throw CommandFailure(
                "archive.to: \(reason)", hint: place.contains("://") ? error.hint : placeHint,
                status: .configuration)
        } catch let error as ServiceError {
            throw CommandFailure(
                "archive.to: \(error.description)", hint: placeHint, status: .configuration)
        } catch {
            throw CommandFailure(
                "archive.to: \(ServiceOptions.message(for: error))", status: .configuration)
        }
    }
}

extension ArchiveReport {
    static let hint = "send all of it now, to where archive.to leads today, with: utter retry all"

    /// The takes that wait on the disk; blocks on it.
    init(of spool: Spool, unqueued: Int) {
        self.init()
        // A queue that cannot be read is told by what fills it.
        let queue = (try? spool.queue.takes()) ?? []
        waiting = queue.count + unqueued
        reason =
            queue.lazy.filter { $0.state == .kept && $0.attempts > 0 }.compactMap(\.reason).first
            ?? (unqueued > 0 ? "its queue on the disk has not taken them" : nil)
    }

    /// The takes that are left, in a line for a person; nil: none.
    var waitingLine: String? {
        guard waiting > 0 else { return nil }
        let takes = waiting == 1 ? "1 take" : "\(waiting) takes"
        return "the archive is still to get \(takes)" + (reason.map { ": \($0)" } ?? "")
    }

    var lines: [ToldLine] {
        var lines: [ToldLine] = []
        if stored > 0 {
            lines.append(.line("stored \(stored) \(stored == 1 ? "take" : "takes") in the archive"))
        }
        if let waitingLine { lines += [.line(waitingLine), .hint(Self.hint)] }
        return lines
    }
}
