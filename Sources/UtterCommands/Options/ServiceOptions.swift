// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Glibc
internal import LinuxPlatform
package import Utter
internal import UtterSettings

extension AudioCodec: ExpressibleByArgument {}
extension RequestMethod: ExpressibleByArgument {
    /// Reads a method in whatever case.
    package init?(argument: String) { self.init(rawValue: argument.uppercased()) }
}
extension BodyFraming: ExpressibleByArgument {}
extension RetryPolicy.UnknownOutcome: ExpressibleByArgument {}

/// Where the audio goes, in what form, and how long that may take.
///
/// What is not given is nil: a kept take has its own.
struct ServiceOptions: ParsableArguments {
    init() {}

    /// Where `utter serve` listens unless told otherwise.
    static let localURL = "http://127.0.0.1:\(localPort)/recognize"
    private static let localPort: UInt16 = 8517

    @OptionGroup
    var profile: ProfileOptions

    @Option(
        help: ArgumentHelp(
            "The service's URL; {token} in its query stands for the token. Otherwise UTTER_URL, "
                + "otherwise \(Self.localURL). A kept take goes where it was meant to go.",
            valueName: "url"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "A file with the service's token, readable by you alone. Otherwise UTTER_TOKEN.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "The same, with what this shell command prints.", valueName: "command"))
    var tokenCommand: String?

    @Option(
        help: ArgumentHelp(
            "The same, from this open file descriptor, such as 3.", valueName: "number"))
    var tokenFd: Int32?

    @Option(
        help: ArgumentHelp(
            "The same, from the systemd credential of this name.", valueName: "name"))
    var tokenCredential: String?

    @Option(
        help: ArgumentHelp(
            "How the token is sent: 'xi-api-key: {}', 'Authorization: Basic {base64}'. "
                + "(default: 'Authorization: Bearer {}')", valueName: "field"))
    var tokenHeader: String?

    @Option(
        name: [.long, .customShort("H")],
        help: ArgumentHelp(
            "A header field to send, such as 'X-Model: small'; @FILE is a file of secret ones.",
            valueName: "field"))
    var header: [String] = []

    @Option(help: "The request's method: POST or PUT. (default: POST)")
    var method: RequestMethod?

    @Option(
        help: ArgumentHelp(
            "The Content-Type to send; in a form, that of the audio.", valueName: "type"))
    var contentType: String?

    @Option(
        help: ArgumentHelp(
            """
            How the answer is read: auto, text, sequence, events, subtitles, or json:PATH. \
            (default: auto)
            """,
            valueName: "rule"))
    var answer: String?

    @OptionGroup
    var body: BodyOptions

    @Option(
        help: ArgumentHelp(
            "How the service learns the recording's end: chunked, length (sent when it is "
                + "complete), or auto: chunked, unless the service cannot. (default: auto)",
            valueName: "how"))
    var framing: BodyFraming?

    @Flag(help: "The service decides when you have finished: its answer ends the recording.")
    var endpointing = false

    @Option(
        help: ArgumentHelp(
            "Another origin to which a 307 or 308 may lead; token and audio go there.",
            valueName: "origin"))
    var redirectTo: [String] = []

    @OptionGroup
    var connection: ConnectionOptions

    @Flag(help: "Allow a token to travel over plain http to another machine.")
    var insecureToken = false

    @Flag(help: "Do not try again; keep the take at the first failure.")
    var noRetry = false

    @Option(
        help: ArgumentHelp(
            "When all was sent and no answer came: resend, keep, or ask. (default: resend)",
            valueName: "what"))
    var onUnknown: RetryPolicy.UnknownOutcome?

    @Option(
        help: ArgumentHelp(
            "How fast to catch up after an outage: 4x, or bytes a second.",
            valueName: "rate"))
    var catchUpRate: CatchUpRateArgument?

    @Option(
        help: ArgumentHelp(
            "The header field of the take's id. (default: Idempotency-Key)", valueName: "name"))
    var idHeader: String?

    @Option(
        help: ArgumentHelp("The longest wait for a connection. (default: 10s)", valueName: "time"))
    var connectTimeout: DurationArgument?

    @Option(
        help: ArgumentHelp("How long sending may stand still. (default: 8s)", valueName: "time"))
    var stallTimeout: DurationArgument?

    @Option(
        help: ArgumentHelp("The longest wait for the answer. (default: 60s)", valueName: "time"))
    var answerTimeout: DurationArgument?

    mutating func validate() throws {
        let sources = [
            ("--token-file", tokenFile != nil), ("--token-command", tokenCommand != nil),
            ("--token-fd", tokenFd != nil), ("--token-credential", tokenCredential != nil),
        ].filter(\.1).map(\.0)
        guard sources.count <= 1 else {
            throw ValidationError("\(sources[0]) excludes \(sources[1]).")
        }
        let times = [
            ("--connect-timeout", connectTimeout), ("--stall-timeout", stallTimeout),
            ("--answer-timeout", answerTimeout),
        ]
        for (name, time) in times where time?.duration == .zero {
            throw ValidationError("\(name) must be above zero.")
        }
    }

    /// Whether neither an option, nor the environment, nor the settings name a service.
    var isServiceUnset: Bool {
        guard to == nil, ServiceVariables.url == nil, profile.service == nil else { return false }
        // What is wrong there has ended the command before.
        return (try? KnownSettings.service.value()) == nil
    }

    /// Whether a program listens where `localURL` leads; the kernel answers for this machine at once.
    static var listensLocally: Bool {
        let file = OwnedDescriptor(
            taking: socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = localPort.bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(file.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status != 0 else { return true }
        var event = pollfd(fd: file.number, events: Int16(POLLOUT), revents: 0)
        // What is not known is not warned of.
        guard errno == EINPROGRESS, unsafe poll(&event, 1, 200) == 1 else {
            return errno != ECONNREFUSED
        }
        return event.revents & Int16(POLLERR | POLLHUP) == 0
    }
}
