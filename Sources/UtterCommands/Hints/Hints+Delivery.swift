// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterControl

extension Hints {
    /// The hint for a take that has no transcript; nil: none.
    ///
    /// A service without a token has no `source`; `plan` is how the recording was sent.
    static func of(
        _ failure: TakeFailure, tokenFrom source: SecretSource?, by plan: DeliveryPlan? = nil
    ) -> String? {
        // A required word that stands in the URL's path may be the wrong one.
        let word = plan?.profile.flatMap { use in
            use.profile.words.last {
                $0.isRequired && use.profile.url.text.contains("/{\($0.name)}")
            }
        }
        return switch (failure, source) {
        case (.refused(status: 413, _, _), _) where plan?.format == .oggOpus:
            "send less at a time: it is Ogg Opus already"
        case (.refused(status: 404, _, nil), _) where word != nil:
            "check the URL's path, and --set \(word?.name ?? "")=VALUE, which stands in it"
        case (.refused(status: 415, _, _), _):
            failure.hint?.replacing(
                "wav or ogg-opus",
                with: [.wav, .oggOpus].filter { $0 != plan?.format }.map(\.name)
                    .joined(separator: " or "))
        case (.secretMissing(let reason), .file(let path)?) where reason.contains("by others"):
            "change that with: chmod 600 \(ShellWord.quoted(path)), then: utter retry last"
        case (.secretMissing, .variable(let name)?): "set \(name), then: utter retry last"
        case (.tokenRefused(_, _, .schemes), _): failure.hint
        case (.tokenRefused(_, _, .tokenMissing), .variable(let name)?): "set \(name)"
        case (.tokenRefused, .variable(let name)?) where name != "UTTER_TOKEN",
            (.refused(_, _, .token), .variable(let name)?) where name != "UTTER_TOKEN":
            "check the token in \(name)"
        default: failure.hint
        }
    }

    fileprivate static func unreachable(_ reason: String, host: String) -> String {
        if host == ServiceOptions.localOrigin { return localService }
        if host.hasPrefix(ServiceURL.localScheme) {
            // Where there is no usual socket, it is another one.
            return host == (try? SocketPlace(ServiceURL.localScheme))?.text
                ? "start it in another terminal: utter serve --listen unix:"
                : "check the path, and whether its program runs"
        }
        // A server without TLS may hang up on a handshake.
        let hangsUp = ["in TLS", "SSL_", "reset by peer"].contains(where: reason.contains)
        if hangsUp, host.hasPrefix("https:") {
            return "write http:// if the service does not speak TLS, or name its other port"
        }
        guard let variable = ProxyVariable(for: host), variable.isMeant(by: reason) else {
            // Named is who was asked, where that is not the service.
            let isOfProxy =
                reason.contains("proxy") || reason.split(separator: " ").dropFirst().first == "port"
            return isOfProxy
                ? "name another proxy with -c connection.proxy=URL, or none in place of the URL"
                : "check the URL and the network"
        }
        return "check the proxy, which \(variable.name) names, such as http://proxy.example:3128; "
            + "-c connection.proxy=none goes without it"
    }
}

extension TakeFailure: Blamed {
    var status: ExitStatus {
        switch self {
        case .capture(let error): error.status
        case .encoding: .internalError
        case .journal: .localIO
        case .notDelivered, .unavailable, .unfinished: .notDelivered
        case .insecure, .tokenRefused: .tokenRefused
        case .refused, .redirectRefused, .notTLS, .outsideLimits: .refused
        case .proxyRefused(let status): status == 407 ? .tokenRefused : .refused
        case .secretMissing: .configuration
        case .answerUnusable, .responseUnusable: .unusableAnswer
        case .tooShort: .heardNothing
        case .cancelled: .cancelled
        case .left: .terminated
        }
    }

    var hint: String? {
        switch self {
        case .capture(let error): error.hint
        case .answerUnusable(let error): error.hint
        case .notTLS(let reason, _) where reason.contains("handshake failure"):
            "it may want a certificate: -c connection.client-certificate=FILE; or speak an older TLS than utter does"
        case .notTLS: "write http:// if the service does not speak TLS, or name its other port"
        case .tokenRefused(_, _, .schemes(let schemes)) where schemes.isOfDialogue:
            "utter does not speak \(schemes): ask for a token, or for Basic"
        case .tokenRefused(_, _, .schemes(let schemes))
        where !schemes.lowercased().contains("basic"):
            "look up how the service takes a token for the scheme \(schemes); -c auth.kind=header and "
                + "-c auth.header=NAME put it into a field of its own"
        case .tokenRefused(_, _, .schemes(let schemes)):
            "the service wants the scheme \(schemes): give a token USER:PASSWORD "
                + "with -c auth.kind=basic"
        case .tokenRefused(_, _, .tokenOfOther):
            "give the one that may go there with --token-file or --token-command, or with UTTER_TOKEN "
                + "beside --to; or write url and token-variable for it: utter config edit"
        case .tokenRefused(_, _, .tokenMissing):
            "give it with UTTER_TOKEN, --token-file or --token-command; -c auth.header says where it "
                + "stands"
        case .tokenRefused(status: 403, _, _):
            "check what the token may do: UTTER_TOKEN, --token-file or --token-command"
        case .refused(_, let words?, _)
        where words.contains("its region is ")
            || words.contains("region") && words.contains("expecting"):
            "name it with --set region=NAME"
        case .unavailable(_, let words?) where words.hasPrefix("the clock of this machine"):
            "set the clock of this machine, then send it with: utter retry"
        case .tokenRefused, .refused(_, _, .token):
            "check the token: UTTER_TOKEN, --token-file or --token-command; -c auth.header says "
                + "where it stands"
        case .refused(_, _, .elsewhere(let location)):
            "if that is right, send it there with --to \(location)"
        case .refused(_, _, .otherMethod(let allowed)):
            allowed.contains("PUT")
                ? "send it with -c method=PUT"
                : "the URL takes \(allowed), and utter sends POST or PUT: check its path"
        case .refused(_, _, .length):
            "the service wants the length of the recording: -c transfer.framing=length sends it"
        case .refused(_, _, .lengthSent):
            "a proxy in between may drop it: name the service itself, or another version: -c connection.http=2"
        case .refused(_, _, .wantsTLS): "write https:// in place of http://"
        case .refused(_, _, .model): "name another model with --model"
        case .refused(_, _, .forbidden):
            "do what the service's words ask for, then send it with: utter retry"
        case .refused(_, _, .form):
            "this service wants a form (multipart/form-data): send one with what it asks "
                + "for, such as -c body.fields.model=whisper-1"
        case .insecure(let reason, _) where reason.contains("pinned"):
            "the service has another key than connection.pinned-key says: ask those who run it"
        case .insecure(let reason, _) where reason.contains("of the client's"):
            "show one with -c connection.client-certificate=FILE, and client-key"
        case .insecure(let reason, _) where reason.contains("at the socket"):
            "name a socket of a program of yours, or of root's"
        case .proxyRefused(status: 407):
            "put NAME:PASSWORD into the first line of a file: -c "
                + "connection.proxy-login-file=FILE, or into UTTER_PROXY_LOGIN"
        case .proxyRefused:
            "name another proxy with -c connection.proxy=URL, or none in place of the URL"
        case .insecure:
            "check the URL and the clock, or name the authority with "
                + "-c connection.ca-file=FILE"
        case .redirectRefused(_, let reason) where !reason.contains("origin"):
            "check the URL: the service leads nowhere from there"
        case .redirectRefused: "allow it with -c transfer.redirect-to=ORIGIN, or correct the URL"
        case .notDelivered(.cannotResolve(let reason), let host),
            .notDelivered(.cannotConnect(let reason), let host):
            Hints.unreachable(reason, host: host)
        case .secretMissing: "try the command or the file by itself, then: utter retry last"
        case .notDelivered(.unproved, _):
            "check the network, and that the URL is the service's own, then: utter retry"
        case .notDelivered(.connectionLost, let host):
            "check the network, then send it with: utter retry"
                + (host.hasPrefix("http://") ? "; if the service speaks TLS, write https://" : "")
        case .notDelivered(.timedOut(.answer), _):
            "wait longer for it with -c transfer.answer-seconds=120, or ask again with: utter retry"
        case .notDelivered(.timedOut(.stall), _):
            "check the network, or wait longer: -c transfer.stall-seconds=30"
        case .notDelivered(.timedOut(.connect), _): "check the URL and the network"
        case .responseUnusable:
            "check that the URL is that of a service that speaks HTTP, or https:// in place of http://"
        case .outsideLimits:
            "send it to another service with --to, or listen to it with 'utter play'"
        case .unfinished: "ask again later with: utter retry last"
        case .refused(status: 413, _, _):
            "send it smaller with --format ogg-opus, or less at a time"
        case .refused(415, let words?, _) where words.contains("the body is encrypted"):
            "give the endpoint the key: utter serve --key FILE"
        case .refused(415, let words?, _) where words.contains("takes encrypted"):
            "give the key with -c body.key-file=FILE, or start the endpoint with --allow-plain"
        case .refused(422, let words?, _) where words.contains("not the cassette's"):
            "send what was recorded: the method, path, query and form of audio that the words name"
        case .refused(status: 415, _, _):
            "send it in another form with --format wav or ogg-opus, or name it with "
                + "-c body.content-type=TYPE"
        case .refused(status: 412, _, _):
            "give it another name: utter retry last --set key=KEY, or --to URL"
        case .refused(status: 404, _, _): "check the URL's path"
        case .refused(status: 422, .some, _):
            "the service's words name the field: give it with -c body.fields.NAME=VALUE, "
                + "--language or --model"
        case .refused(status: 400..., nil, nil):
            "look this status up in the documentation of the service"
        default: nil
        }
    }
}

extension String {
    /// Whether these schemes of authentication need more than one request, which utter does not make.
    fileprivate var isOfDialogue: Bool {
        lowercased().split(separator: ",").allSatisfy { scheme in
            ["digest", "negotiate", "ntlm"].contains { scheme.contains($0) }
        }
    }
}
