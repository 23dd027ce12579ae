// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Whether recordings can be kept, and whether any waits.
struct StateCheck: Check {
    let name = "recordings"

    func run() async -> [Finding] {
        let folder = Environment.stateFolder
        let store: TakeStore
        do throws(TakeStoreError) {
            store = try TakeStore(stateFolder: folder, key: nil)
        } catch {
            return [.bad(error.description, hint: Hints.of(error))]
        }
        var findings: [Finding] = []
        do throws(CommandFailure) {
            if let shortage = store.shortage(by: try KeepOptions.standard.limits) {
                findings.append(
                    .bad(
                        "recordings cannot be kept: \(shortage.description)",
                        hint: Hints.of(shortage)))
            }
        } catch {
            findings.append(.bad(error))
        }
        // What cannot be listed is said by what makes the list.
        let waiting = (try? Spool(at: folder).takes(where: .waiting).count) ?? 0
        if waiting > 0 {
            findings.append(
                .warning(
                    waiting == 1
                        ? "1 recording waits for its answer"
                        : "\(waiting) recordings wait "
                            + "for their answers", hint: "send them with: utter flush"))
        }
        return findings.isEmpty ? [.good("recordings are kept in \(folder)/takes")] : findings
    }
}
