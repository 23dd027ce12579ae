// SPDX-License-Identifier: Apache-2.0

// Sends what waits from earlier runs, then dictates with a service that is known by its name:
//
//     DEEPGRAM_API_KEY=… swift run dictate deepgram language=en
//
// Enter begins a recording, and ends it; Ctrl-D leaves.

import Foundation
import Utter

@main
struct Dictate {
    static func main() async {
        do {
            try await dictate(CommandLine.arguments.dropFirst())
        } catch {
            print("dictate: \(error)")
        }
    }

    private static func dictate(_ arguments: ArraySlice<String>) async throws {
        guard let name = arguments.first else {
            return print("usage: dictate SERVICE [WORD=VALUE]…, of:", Profiles.shipped.names)
        }
        let words = arguments.dropFirst()
            .map { (String($0.prefix { $0 != "=" }), String($0.drop { $0 != "=" }.dropFirst())) }
        let profile = try Profiles.shipped.profile(name).speaking
        let service = try Service(profile, words: Dictionary(words) { $1 })
        let spool = Spool(at: NSHomeDirectory() + "/.local/state/utter-dictate")
        let pipeline = try Pipeline(spool: spool) { try await $0.source.read() }
        defer { pipeline.shutDown() }
        try spool.recover()  // Ends takes whose program died.
        for kept in try spool.takes(where: .waiting) {
            print("waits: \(kept.id.text), \(kept.length ?? .zero): \(kept.reason ?? "")")
        }
        for await resent in pipeline.resend(try spool.takes(where: .due)) {
            if case .outcome(let outcome, let take) = resent.ending { show(outcome, of: take) }
        }

        let dictation = try Dictation { _ in
            pipeline.start(TakePlan(source: Microphone(), service: service))
        }
        Thread.detachNewThread {
            while readLine() != nil { dictation.handle(.toggle) }
            dictation.handle(.stop)
            dictation.finish()
        }
        for await take in dictation.takes { show(await take.outcome, of: take) }
        dictation.shutDown()
    }

    private static func show(_ outcome: TakeOutcome, of take: Take) {
        switch outcome.result {
        case .success(let transcript):
            print(transcript.text)
            take.release()  // The text is out: the audio may be deleted.
        case .failure(let failure): print("kept: \(failure.description)")
        }
    }
}
