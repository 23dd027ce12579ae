// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs

/// The program `ffmpeg`, which reads what we do not.
package struct Converter: Sendable {
    package let path: String
    /// As "NAME=value"; asked for when it runs.
    package let environment: @Sendable () -> [String]

    package init(path: String, environment: @escaping @Sendable () -> [String]) {
        (self.path, self.environment) = (path, environment)
    }

    enum Input {
        /// Standard input, which the program opens anew to look at its end, too.
        case file
        case pipe
        /// A playlist that utter has made, of files beside it.
        case playlist(String)
    }

    /// Bytes of memory and seconds of a processor's time that one recording may cost.
    static let limits = (memory: 1 << 30, time: 3_600)

    /// The forms of recordings, as the program calls them: none that names other files or servers, or
    /// is a picture, a text or a device.
    private static let forms =
        "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dts,eac3,flac,flv,ilbc,loas,matroska,mov,mp3,mpc,"
        + "mpc8,mpeg,mpegts,nistsphere,ogg,rm,tta,voc,w64,wav,wv"

    /// No sound is longer, in seconds.
    private static let longest = 86_400

    /// All channels of the sound with this number are wanted.
    func arguments(_ input: Input, kind: String, sound: Int) -> [String] {
        let codec = kind == InputType.bigEndianSamples ? ["-c:a", "pcm_s16be"] : []
        let (protocols, moreForms, source) =
            switch input {
            case .file: ("file", "", "file:/dev/stdin")
            case .pipe: ("pipe", "", "pipe:0")
            case .playlist(let path): ("file", ",hls", "file:" + path)
            }
        return [
            "ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "repeat+error", "-threads", "1",
            "-protocol_whitelist", protocols, "-format_whitelist", Self.forms + moreForms,
        ] + codec + [
            "-i", source, "-map", "0:a:\(sound)", "-t", "\(Self.longest)", "-ar", "16000",
            "-c:a", "pcm_s16le", "-f", "wav", "pipe:1",
        ]
    }
}
