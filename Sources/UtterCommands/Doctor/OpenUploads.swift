// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// Whether uploads lie at a store that were begun more than a day ago, and never ended.
struct OpenUploads {
    private static let age = Duration.seconds(86_400)

    let delivery: DeliveryPlan
    /// Whether a person at the terminal may be asked to drop them.
    let asks: Bool

    func findings() async -> [Finding] {
        do {
            let pipeline = try Pipeline(spool: nil, secrets: SecretAsker().answer)
            defer { pipeline.shutDown() }
            return try await findings(pipeline)
        } catch {
            return [.warning("the store does not say which uploads are open: \(error)")]
        }
    }

    private func findings(_ pipeline: Pipeline) async throws -> [Finding] {
        guard let uploads = try await pipeline.openUploads(at: delivery, olderThan: Self.age),
            let first = uploads.first
        else { return [] }
        let count = uploads.count == 1 ? "1 upload" : "\(uploads.count) uploads"
        let text =
            "\(count) at the store began more than a day ago and never ended, such as "
            + "'\(TerminalText.shown(first.key))' of \(TerminalText.shown(first.begun))"
        guard asks, try Dialogue().confirms("\(text). Have the store drop them?", usually: false)
        else {
            return [
                .warning(text, hint: "their parts are paid for; at a terminal, doctor drops them")
            ]
        }
        for upload in uploads { try await pipeline.abort(upload, at: delivery) }
        return [.good("the store has dropped \(count) that never ended")]
    }
}
