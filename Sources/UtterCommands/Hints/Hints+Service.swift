// SPDX-License-Identifier: Apache-2.0

internal import Utter

extension Hints {
    static var serviceUnset: String {
        LocalSetup.installedCommand != nil
            ? localService
            : "run 'utter setup'; 'utter setup local' installs a service on this machine; what is kept "
                + "goes to the one that you choose with: utter retry"
    }

    /// How the service of this machine is started, or got.
    static var localService: String {
        if LocalUnits.areThere {
            return "see why it does not listen: systemctl --user status utter-local.socket"
        }
        return LocalSetup.installedCommand != nil
            ? "start it in another terminal: utter serve"
            : "install one with 'utter setup local', or name another service with 'utter setup'"
    }

    static let proxy =
        "write it like http://proxy.example:3128, or none; its name and password go into a "
        + "file: -c connection.proxy-login-file=FILE"

    /// The hint for a URL without its scheme: a host of a network is reached by https.
    fileprivate static func whole(_ text: String) -> String {
        if text.hasPrefix(ServiceURL.localScheme) {
            return "write it like unix:/run/user/1000/utter/recogniser"
        }
        let isNear = text.hasPrefix("localhost") || text.first?.isNumber == true
        let url = (isNear ? "http://" : "https://") + text
        guard !text.contains("://"), (try? ServiceURL(url)) != nil,  // Then it is no host either.
            isNear || text.contains(".") || text.contains(":")
        else { return "write it like https://speech.example/v1/listen?language=en" }
        return "did you mean \(url)?"
    }
}

extension ServiceError: Blamed {
    /// A token is a matter of configuration; all else stands on the command line.
    var status: ExitStatus {
        if case .invalidCredential = self { .configuration } else { .usage }
    }

    var hint: String? {
        switch self {
        case .invalidURL(_, let reason) where reason.contains("WebSocket"):
            "describe its messages in a profile, or name its address for recordings, with https://"
        case .invalidURL(_, let reason) where reason.contains("ws://"):
            "write it like wss://speech.example/v1/listen, or tcp://HOST for Wyoming"
        case .invalidURL(_, let reason) where reason.contains("Wyoming"):
            "ask a server of Wyoming with --to tcp://HOST alone"
        case .invalidURL(_, let reason) where reason.contains("socket.path"):
            "write it like -c 'socket.path=/listen?language=en'"
        case .invalidURL(_, let reason) where reason.contains("'..'"): "name the place itself"
        case .invalidURL(let text, _): Hints.whole(text)
        case .userInfoInURL: "leave it out and give the token with --token-file or UTTER_TOKEN"
        case .invalidHeader: "write it like --header 'X-Language: en'"
        case .invalidCredential: "put the token alone on the first line of the file"
        case .invalidSecretForm: "write {} or {base64} once, such as 'xi-api-key: {}'"
        case .invalidPath: "write names with dots, [n] for one element, [] for all: results[].text"
        case .invalidAnswerRule:
            "write auto, text, sequence, events, subtitles or json:PATH"
        case .invalidForm:
            "write it like -c body.fields.model=whisper-1; the audio is added by itself"
        case .secretInBody:
            "send it in a header field: --token-file FILE -c auth.kind=header -c auth.header=NAME"
        case .invalidConnection(let what, _):
            if what.contains("proxy") {
                Hints.proxy
            } else if what.contains("key") {
                "print it with: openssl x509 -in CERTIFICATE -pubkey -noout | openssl pkey -pubin "
                    + "-outform der | openssl dgst -sha256 -binary | base64"
            } else {
                "write it like speech.example:443:192.0.2.7"
            }
        case .invalidTemplate: #"write it like -c body.template='{"audio":"{audio}"}'"#
        }
    }
}

extension AnswerError: Blamed {
    var status: ExitStatus { .unusableAnswer }

    var hint: String? {
        switch self {
        case .empty:
            "check that the URL is one of a speech-recognition service, and not one that stores files"
        case .truncated, .noFinal:
            "ask again with: utter retry; if it ends there each time, look for a proxy in between"
        case .serviceReported, .undecodable: nil
        case .notJSON:
            "check the URL, or say what it answers with -c answer.framing=text or events"
        case .tooDeep, .tooLarge, .tooManyValues, .notText, .unsupportedMediaType:
            "check that the URL is one of a speech-recognition service"
        case .missingText(_, _, let places):
            "name the path of the text with -c "
                + ShellWord.quoted("answer.text=\(places.first ?? "PATH")")
                + (places.count > 1 ? "; left out is the text of \(places.count - 1) more" : "")
        case .webPage:
            "check the URL: a login page may stand in front of the service, or it stores files"
        }
    }
}
