// SPDX-License-Identifier: Apache-2.0

import RecognitionEndpoint

/// The line that `utter serve -v` prints for a request.
enum RequestLine {
    /// What a request was and what became of it.
    ///
    /// `127.0.0.1:51234 POST /recognize audio/wav, 89204 bytes, 2.79 s of audio: 200 in 0.61 s`
    static func text(_ request: ServedRequest) -> String {
        var words = [request.peer]
        if request.method.isEmpty {
            words.append("what is not HTTP")
        } else {
            words += [request.method, String(request.path.prefix(longestName))]
            if let type = request.mediaType { words.append(String(type.prefix(longestName))) }
        }
        var text = words.joined(separator: " ") + ", \(request.byteCount) bytes"
        if let audio = request.audioDuration { text += ", \(seconds(audio)) of audio" }
        text += ": \(request.status.map(String.init) ?? "no answer")"
        if request.status != nil, !request.isAnswered { text += ", broken off" }
        return text + (request.isAnswered ? " in " : " after ")
            + seconds(request.duration / .seconds(1))
    }

    private static func seconds(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) s"
    }

    /// A path or a type that is longer tells nothing more.
    private static let longestName = 100
}
