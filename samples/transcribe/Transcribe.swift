// SPDX-License-Identifier: Apache-2.0

// Replays WAV files to a recogniser, all at once and each as if it were being spoken now:
//
//     utter serve --max-recognitions 3 &
//     swift run transcribe samples/go-forward.wav samples/cards-three.wav
//
// It shows all that a program needs of the library: one pipeline for the process, one plan and
// one take for each recording, the take's events, and its outcome.

import Utter

@main
struct Transcribe {
    static func main() async throws {
        let files = CommandLine.arguments.dropFirst()
        let pipeline = try Pipeline(spool: Spool(at: "/tmp/utter-transcribe"))
        defer { pipeline.shutDown() }
        let service = try Service(
            DeliveryPlan(
                service: RecognitionService(url: ServiceURL("http://127.0.0.1:8517/recognize"))))

        await withTaskGroup { group in
            for file in files {
                let take = pipeline.start(
                    TakePlan(source: FileReplay(path: file, pace: .realTime), service: service))
                group.addTask { await follow(take, of: file) }
            }
        }
    }

    /// Prints what a take says, as it says it.
    private static func follow(_ take: Take, of file: String) async {
        for await event in take.events {
            if case .heard(let transcript) = event { print("\(file): … \(transcript.displayText)") }
        }
        switch await take.outcome.result {
        case .success(let transcript):
            print("\(file): \(transcript.text)")
            // The text is out: the recording may be deleted.
            take.release()
        case .failure(let failure):
            print("\(file): \(failure.description)")
        }
    }
}
