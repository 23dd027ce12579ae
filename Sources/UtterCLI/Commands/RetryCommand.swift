// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterTerminal

/// `utter retry`: sends takes that have been kept.
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send a kept take again, in the format it was recorded in.")

    @Argument(help: "A take's name or its beginning, 'last', or 'all' that wait for an answer.")
    var takes: [String]

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @Flag(help: "Keep the audio after its transcript was printed.")
    var keepAudio = false

    func run() async throws {
        try await Launch.takes(output: output, keepsAudio: keepAudio, listensToEnter: false) {
            session throws(CommandFailure) in
            let plan = try service.delivery()
            var status = ExitStatus.textPrinted
            for folder in try folders() {
                let next = await session.resend(folder, by: plan)
                if status == .textPrinted { status = next }
                if next.isByRequest { return next }
            }
            return status
        }
    }

    private func folders() throws(CommandFailure) -> [TakeFolder] {
        do throws(TakeStoreError) {
            let store = try TakeStore(stateFolder: Environment.stateFolder)
            try Recovery.recoverAll(in: store)
            guard takes == ["all"] else {
                return try takes.map { name throws(TakeStoreError) in try store.find(name) }
            }
            // What cannot be read is shown by 'utter list', and must not stop the others.
            let folders = try store.ids().compactMap { try? store.take($0) }
            return folders.filter { folder in
                // The same.
                guard let manifest = try? folder.manifest() else { return false }
                return manifest.state == .kept || manifest.state == .sealed
            }
        } catch {
            throw CommandFailure(error)
        }
    }
}
