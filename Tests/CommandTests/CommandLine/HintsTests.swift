// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Capture
@testable import Cryptography
@testable import LinuxPlatform
@testable import SpeechService
@testable import Utter
@testable import UtterCommands

/// What a person is told to do about an error.
@Suite struct HintsTests {
    /// An error, and what is to be done about it.
    struct Advice<Failure: Error>: Sendable {
        let error: Failure
        let hint: String?

        init(_ error: Failure, _ hint: String?) { (self.error, self.hint) = (error, hint) }
    }

    private static let host = "https://speech.example"
    private static let chooseDevice =
        "run 'utter devices' and pass one of those names with --device"

    private static func refused(
        _ status: Int, _ advice: RefusalAdvice? = nil, message: String? = nil
    ) -> TakeFailure {
        .refused(status: status, message: message, advice: advice)
    }

    private static func tokenRefused(
        _ status: Int, _ advice: RefusalAdvice? = nil, message: String? = nil
    ) -> TakeFailure {
        .tokenRefused(status: status, message: message, advice: advice)
    }

    private static let captureErrors: [Advice<CaptureError>] = [
        Advice(.deviceNotFound(device: "hw:9,0"), chooseDevice),
        Advice(
            .deviceBusy(device: "hw:0,0"),
            "close that program, or use --device default to share the card"),
        Advice(
            .permissionDenied(name: "hw:0,0"),
            "check the permissions; sound cards often need the group 'audio'"),
        Advice(
            .formatRefused(device: "hw:0,0", detail: "it offers nothing"),
            "use --device plughw:0,0 to let ALSA convert"),
        Advice(
            .formatRefused(device: "default", detail: "it offers FLOAT_LE"),
            "use --device plug:default to let ALSA convert"),
        Advice(
            .formatRefused(device: "plug:default", detail: "it offers nothing"),
            "pass another of those that 'utter devices' lists"),
        Advice(
            .deviceLost(device: "hw:1,0", frames: 659_200, sampleRate: 16_000),
            "connect it again and record once more"),
        Advice(.deviceUnclear(device: "usb", candidates: []), chooseDevice),
        Advice(
            .deviceIsMonitor(device: "monitor"),
            "if that is what you want, say so with --allow-monitor"),
        Advice(
            .deviceSilent(device: "hw:1,0", seconds: 3),
            "check that the microphone is not muted or suspended"),
        Advice(
            .deviceHangs(device: "hw:1,0", seconds: 5),
            "connect it again, or pass another of those that 'utter devices' lists"),
        Advice(
            .deviceFailed(device: "hw:1,0", operation: "snd_pcm_readi", reason: "Input error"), nil),
        Advice(.cannotOpen(name: "a.wav", reason: "No such file or directory"), "check the name"),
        Advice(.readFailed(name: "a.wav", reason: "Input/output error"), nil),
        Advice(
            .unusableAudio(name: "a.wav", detail: "no data chunk"),
            "utter reads WAV of PCM and floating point, FLAC and Ogg Opus; "
                + "convert others with: ffmpeg -i IN -ar 16000 -ac 1 OUT.wav"),
        Advice(
            .foreignAudio(name: "a.mp3", kind: "MP3"),
            "install the program ffmpeg, by which utter reads it: sudo apt install ffmpeg"),
        Advice(
            .notSound(name: "a.gz", kind: "packed by gzip"),
            "name a recording; unpack what is packed, and decrypt what is encrypted"),
        Advice(
            .notSound(name: "standard input", kind: "text"),
            "look at what the program before the pipe writes; raw samples are said by --rate"),
        Advice(
            .deviceUnusable(device: "hw:1,0", reason: "it is odd"),
            "check ALSA's configuration, or pass another of those that 'utter devices' lists"),
        Advice(
            .fileForbidden(path: "a.wav"), "check whose it is, and who may read it, with: ls -l"),
    ]

    @Test(arguments: captureErrors)
    func aRecordingThatCannotBeMade(_ advice: Advice<CaptureError>) {
        #expect(advice.error.hint == advice.hint)
    }

    private static let storeErrors: [Advice<TakeStoreError>] = [
        Advice(.noSuchTake("last"), "record one with 'utter', or 'utter send' a file"),
        Advice(
            .audioGone(take: "t", wasAnswered: true),
            "read what was understood: utter show t; --keep-audio TIME keeps audio for longer"),
        Advice(.audioGone(take: "t", wasAnswered: false), nil),
        Advice(.unreadable(take: "t", reason: "take.json is damaged"), nil),
        Advice(.laterVersion(take: "t", version: 2), "use the newer program; nothing was changed"),
        Advice(
            .folderUnusable(path: "/x", reason: "mkdir /x: Permission denied"),
            "set XDG_STATE_HOME to a folder that you may write"),
    ]

    @Test(arguments: storeErrors)
    func aTakeThatCannotBeUsed(_ advice: Advice<TakeStoreError>) {
        #expect(advice.error.hint == advice.hint)
    }

    @Test(
        arguments: [
            (refused(413), nil, .oggOpus, "send it smaller" as String?, false),
            (refused(413), nil, .wav, "--format ogg-opus", true),
            (refused(415), nil, .wav, "--format ogg-opus, or name it", true),
            (refused(415), nil, .pcm, "--format wav or ogg-opus", true),
            (
                .secretMissing(reason: "'/k y' can be read by others"), .file("/k y"), .pcm,
                "chmod 600 '/k y', then: utter retry last", true
            ),
            (.secretMissing(reason: "not set"), .variable("KEY"), .pcm, "set KEY", true),
        ] as [(TakeFailure, SecretSource?, AudioCodec, String?, Bool)])
    func whatWasDoneIsNotOffered(
        _ failure: TakeFailure, _ source: SecretSource?, _ codec: AudioCodec, _ words: String?,
        _ isOffered: Bool
    ) throws {
        var plan = try Service("openai", format: .wav, token: .variable("T")).delivery
        plan.format = codec
        let hint = Hints.of(failure, tokenFrom: source, by: plan) ?? ""
        #expect(hint.contains(words ?? "") == isOffered, "\(hint)")
    }

    private static let failures: [Advice<TakeFailure>] = [
        Advice(.capture(.deviceNotFound(device: "hw:9")), chooseDevice),
        Advice(
            .notDelivered(.cannotResolve("no such host"), host: host),
            "check the URL and the network"),
        Advice(
            .notDelivered(.cannotConnect("refused"), host: host), "check the URL and the network"),
        Advice(
            .insecure(reason: "self-signed certificate", host: "speech.example"),
            "check the URL and the clock, or name the authority with -c connection.ca-file=FILE"),
        Advice(refused(404), "check the URL's path"),
        Advice(refused(404, .model, message: "x"), "name another model with --model"),
        Advice(
            refused(411, .lengthSent, message: "411"),
            "a proxy in between may drop it: name the service itself, or another version: "
                + "-c connection.http=2"),
        Advice(
            refused(422, message: "Field required: x"),
            "the service's words name the field: give it with -c body.fields.NAME=VALUE, "
                + "--language or --model"),
        Advice(refused(418, message: "teapot"), nil),
        Advice(refused(418), "look this status up in the documentation of the service"),
        Advice(
            .notDelivered(.connectionLost("reset"), host: "http://h"),
            "check the network, then send it with: utter retry; if the service speaks TLS, "
                + "write https://"),
        Advice(
            .notDelivered(.timedOut(.answer), host: host),
            "wait longer for it with -c transfer.answer-seconds=120, or ask again with: utter retry"
        ),
        Advice(
            .notDelivered(.timedOut(.stall), host: host),
            "check the network, or wait longer: -c transfer.stall-seconds=30"),
        Advice(
            .notDelivered(
                .cannotConnect("it takes the connection, and does not answer in TLS"), host: host),
            "write http:// if the service does not speak TLS, or name its other port"),
        Advice(
            .notDelivered(.cannotConnect("127.0.0.1 port 9: connection refused"), host: host),
            "name another proxy with -c connection.proxy=URL, or none in place of the URL"),
        Advice(
            .answerUnusable(.truncated(byteCount: 9)),
            "ask again with: utter retry; if it ends there each time, look for a proxy in between"),
        Advice(
            tokenRefused(401, .schemes("Digest")),
            "utter does not speak Digest: ask for a token, or for Basic"),
        Advice(
            tokenRefused(401, .schemes("Basic")),
            "the service wants the scheme Basic: give a token USER:PASSWORD "
                + "with -c auth.kind=basic"),
        Advice(
            .proxyRefused(status: 407),
            "put NAME:PASSWORD into the first line of a file: "
                + "-c connection.proxy-login-file=FILE, or into UTTER_PROXY_LOGIN"),
        Advice(
            tokenRefused(401, .tokenOfOther(origin: "https://speech.example")),
            "give the one that may go there with --token-file or --token-command, or with "
                + "UTTER_TOKEN beside --to; or write url and token-variable for it: "
                + "utter config edit"),
        // OpenStack Swift.
        Advice(
            tokenRefused(401, .schemes("Swift")),
            "look up how the service takes a token for the scheme Swift; -c auth.kind=header and "
                + "-c auth.header=NAME put it into a field of its own"),
        Advice(
            tokenRefused(401, .tokenMissing),
            "give it with UTTER_TOKEN, --token-file or --token-command; -c auth.header says where "
                + "it stands"),
        Advice(
            tokenRefused(403, message: "no"),
            "check what the token may do: UTTER_TOKEN, --token-file or --token-command"),
        Advice(
            refused(405, .otherMethod(allowed: "GET")),
            "the URL takes GET, and utter sends POST or PUT: check its path"),
        Advice(refused(405, .otherMethod(allowed: "GET, PUT")), "send it with -c method=PUT"),
        Advice(
            refused(302, .elsewhere(location: "/login"), message: "302 Found"),
            "if that is right, send it there with --to /login"),
        Advice(
            refused(411, .length, message: "411"),
            "the service wants the length of the recording: -c transfer.framing=length "
                + "sends it"),
        Advice(
            .notTLS(reason: "error:0A00010B:SSL routines::wrong version number", host: host),
            "write http:// if the service does not speak TLS, or name its other port"),
        Advice(refused(413), "send it smaller with --format ogg-opus, or less at a time"),
        Advice(
            refused(415, message: "the body is encrypted, and this endpoint has no key"),
            "give the endpoint the key: utter serve --key FILE"),
        Advice(
            refused(415, message: "the body is plain, and this endpoint takes encrypted ones"),
            "give the key with -c body.key-file=FILE, or start the endpoint with --allow-plain"),
        Advice(
            refused(422, message: "the request is not the cassette's: the path is /, not /a"),
            "send what was recorded: the method, path, query and form of audio that the words name"),
        Advice(
            refused(415),
            "send it in another form with --format wav or ogg-opus, or name it with "
                + "-c body.content-type=TYPE"),
        Advice(
            tokenRefused(401, message: "expired"),
            "check the token: UTTER_TOKEN, --token-file or --token-command; -c auth.header says "
                + "where it stands"),
        Advice(
            .redirectRefused(location: "http://evil", reason: "it is another origin"),
            "allow it with -c transfer.redirect-to=ORIGIN, or correct the URL"),
        Advice(
            .redirectRefused(location: "nowhere", reason: "no Location was given"),
            "check the URL: the service leads nowhere from there"),
        Advice(
            .answerUnusable(.empty),
            "check that the URL is one of a speech-recognition service, and "
                + "not one that stores files"),
        Advice(.unavailable(status: 503, message: nil), nil), Advice(.cancelled, nil),
    ]

    @Test(arguments: failures)
    func aTakeWithoutTranscript(_ advice: Advice<TakeFailure>) {
        #expect(advice.error.hint == advice.hint)
    }

    @Test(arguments: [
        ServiceError.invalidURL(text: "x", reason: "it has no host"), .userInfoInURL(text: "x"),
        .invalidHeader(name: "X", reason: "why"), .invalidCredential(reason: "it is empty"),
        .invalidSecretForm(text: "Token"), .invalidPath(text: "a[", offset: 2, reason: "why"),
        .invalidAnswerRule(text: "xml"),
    ])
    func aServiceThatCannotBeDescribed(_ error: ServiceError) throws {
        let hint = try #require(error.hint)
        #expect(!hint.contains("\n") && !hint.hasSuffix("."))
    }

    @Test func anAnswerWithoutTextNamesWhereThereIsSome() {
        let error = AnswerError.missingText(path: "text", excerpt: "{}", places: ["result.text"])
        #expect(error.hint == "name the path of the text with -c answer.text=result.text")
        let several = AnswerError.missingText(path: "t", excerpt: "", places: ["a[].b", "c", "d"])
        #expect(
            several.hint
                == "name the path of the text with -c 'answer.text=a[].b'; left out is the text of 2 more"
        )
    }

    @Test func aHintNamesTheVariableOfTheProfile() {
        let variable = SecretSource.variable("GOOGLE_API_KEY")
        #expect(
            Hints.of(Self.tokenRefused(400), tokenFrom: variable)
                == "check the token in GOOGLE_API_KEY")
        #expect(
            Hints.of(Self.tokenRefused(401, .tokenMissing), tokenFrom: variable)
                == "set GOOGLE_API_KEY")
    }

    @Test func aSocketWithoutAProfileNeedsOne() throws {
        let socket = #expect(throws: ProfileError.self) {
            let plain = try ServiceProfile(texts: [ProfileText(plainFor: "wss://a.example/v1")])
            _ = try plain.service(format: plain.format(nil))
        }
        guard case .unusable(let reason, _)? = socket else {
            Issue.record("\(String(describing: socket))")
            return
        }
        let other = "or name its address for recordings, with https://"
        #expect(reason.hint == "describe its messages in a profile, " + other)
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM])
    func aLimitIsTheSameWhereverItIsMet(_ code: Int32) throws {
        let limit = SystemError(call: "snd_pcm_open", code: code)
        let hint = try #require(limit.hint)
        #expect(CaptureError.limitReached(name: "card", limit).hint == hint)
        #expect(SystemError(call: "read", code: EIO).hint == nil)
    }

    @Test func aFullSpoolNamesItsLimit() {
        #expect(
            Hints.of(SpoolShortage.takes(limit: 5))
                == "send them with 'utter retry all', or remove some with 'utter rm'; "
                + "UTTER_MAX_TAKES is the limit")
        #expect(Hints.of(SpoolShortage.bytes(5, limit: 5)).contains("; UTTER_MAX_BYTES is "))
        #expect(
            Hints.of(SpoolShortage.free(5, limit: 9))
                == "free some space; UTTER_MIN_FREE is the limit")
    }

    @Test(
        arguments: [
            (ENOENT, "check the name, and that its folder is there"),
            (EACCES, "check whose it is, and who may use it, with: ls -ld"),
            (EROFS, "name a place on another disk"), (EISDIR, "name a file in it"), (EIO, nil),
        ] as [(Int32, String?)])
    func aFileThatCannotBeUsed(_ code: Int32, _ hint: String?) {
        #expect(Hints.ofFile(SystemError(call: "open", code: code)) == hint)
        let failure = CommandFailure.cannotWrite("x", SystemError(call: "open", code: code))
        #expect(failure.hint == hint && failure.status == .localIO)
    }

    @Test func aFileOfCertificatesThatIsNotThere() {
        let error = #expect(throws: CommandFailure.self) {
            try CertificateFile.check("/nothere", option: "-c connection.ca-file")
        }
        #expect(error?.hint == "check the name, and that its folder is there")
    }

    @Test func aSecretThatIsNoKeyIsReplacedByOne() {
        #expect(KeyError.guessable.hint == "make a key with: utter key new FILE")
    }

    @Test func whatWasSentIsNotProposed() throws {
        let opus = try Service("openai", format: .oggOpus, token: .variable("T")).delivery
        #expect(
            Hints.of(Self.refused(413), tokenFrom: nil, by: opus)
                == "send less at a time: it is Ogg Opus already")
        #expect(Hints.of(Self.refused(404), tokenFrom: nil, by: opus) == "check the URL's path")
        let home = try Service(
            "home-assistant", words: ["provider": "stt.x"], token: .variable("T")
        ).delivery
        #expect(
            Hints.of(Self.refused(404), tokenFrom: nil, by: home)
                == "check the URL's path, and --set provider=VALUE, which stands in it")
    }
}
