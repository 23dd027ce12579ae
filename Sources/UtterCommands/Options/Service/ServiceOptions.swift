// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Glibc
internal import LinuxPlatform
package import Utter
internal import UtterSettings

extension AudioCodec: ExpressibleByArgument {}

/// Where the audio goes, and in what form.
///
/// What is not given is nil: a kept take has its own.
struct ServiceOptions: ParsableArguments {
    /// Where `utter serve` listens unless told otherwise.
    static let localURL = localOrigin + "/recognize"
    static let localOrigin = "http://127.0.0.1:\(localPort)"
    private static let localPort: UInt16 = 8517

    @OptionGroup
    var profile: ProfileOptions

    @Option(
        help: ArgumentHelp(
            "The service's URL, or s3://BUCKET/KEY, unix:PATH or tcp://HOST; {token} in its query stands for the token. "
                + "Otherwise UTTER_URL, "
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
            "The same, with what this shell command prints.", valueName: "command",
            visibility: .hidden))
    var tokenCommand: String?

    @Option(
        name: [.long, .customShort("H")],
        help: ArgumentHelp(
            "A header field to send, such as 'X-Model: small'; @FILE is a file of secret ones.",
            valueName: "field"))
    var header: [String] = []

    @Option(
        name: [.customLong("config"), .customShort("c")],
        help: ArgumentHelp(
            "Set a field of the service's profile, such as transfer.framing=length; "
                + "'utter services fields' lists all.", valueName: "key=value"),
        completion: .fields)
    var config: [String] = []

    mutating func validate() throws {
        try nameStore()
        if to?.lowercased().hasPrefix("tcp://") == true {
            profile.service = profile.service ?? "wyoming"
        }
        if let to, to.lowercased().hasPrefix(ServiceURL.localScheme) {
            profile.service = profile.service ?? "desktop"
            // The profile says the usual one.
            if to.utf8.count == ServiceURL.localScheme.utf8.count, profile.service == "desktop" {
                self.to = nil
            }
        }
        if let fieldMistake { throw ValidationError(fieldMistake) }
        saySettings()
        let given = [("--token-file", tokenFile != nil), ("--token-command", tokenCommand != nil)]
        let fields = Self.tokenFields.map { ("-c \($0)", field($0) != nil) }
        let sources = (given + fields).filter(\.1).map(\.0)
        guard sources.count <= 1 else {
            throw ValidationError("\(sources[0]) and \(sources[1]) cannot be used together.")
        }
    }

    /// Reads `s3://BUCKET/KEY` as the names of an object for the service that is named, or `s3`.
    private mutating func nameStore() throws {
        guard let to, let name = to.wholeMatch(of: /(?i:s3):\/\/([^\/]+)(?:\/(.*))?/) else {
            return
        }
        let (_, bucket, key) = name.output
        guard let key, !key.isEmpty else {
            throw ValidationError(
                "--to \(to): an object has a key, such as s3://\(bucket)/voice.wav.")
        }
        self.to = nil
        profile.service = profile.service ?? "s3"
        profile.set += ["bucket=\(bucket)", "key=\(key)"]
    }

    /// Whether neither an option, nor the environment, nor the settings name a service.
    var isServiceUnset: Bool {
        guard target == nil, ServiceVariables.url == nil, profile.service == nil else {
            return false
        }
        // A wrong setting has ended the command before.
        return (try? KnownSettings.service.value()) == nil
    }

    /// Has a take end with its recording where no service was chosen, and none listens, and its text go
    /// through the rules of the settings.
    static func complete(_ plan: inout DeliveryPlan) {
        TextSettings.apply(to: &plan)
        if plan.isUnset, !listensLocally { plan.retry.pausesAfterRelease = [] }
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
        // An unknown state is no reason for a warning.
        guard errno == EINPROGRESS, unsafe poll(&event, 1, 200) == 1 else {
            return errno != ECONNREFUSED
        }
        return event.revents & Int16(POLLERR | POLLHUP) == 0
    }
}

/// Which service is asked by its name, and what is said to it.
struct ProfileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The service by its name, of which 'utter services' lists all, or a file that describes "
                + "it. Otherwise UTTER_SERVICE.", valueName: "name"),
        completion: .services)
    var service: String?

    @OptionGroup
    var preset: PresetOption

    @OptionGroup
    var usual: WordOptions

    @Option(
        help: ArgumentHelp(
            "Another word of the service, such as region=eu; 'utter services show NAME' lists them.",
            valueName: "word=value", visibility: .hidden))
    var set: [String] = []

    mutating func validate() throws {
        for text in set where Self.pair(text) == nil {
            throw ValidationError("--set: '\(text)' is not WORD=VALUE, such as region=eu.")
        }
    }

    var words: [String: String] {
        var words: [String: String] = [:]
        for (name, value) in set.compactMap(Self.pair) { words[name] = value }
        return words.merging(usual.words) { $1 }
    }

    var isGiven: Bool { service != nil || !words.isEmpty }

    /// Leaves out words that are said in another place.
    mutating func leaveOutWords(where isMeant: (String) -> Bool) {
        let left = words.filter { !isMeant($0.key) }
        (usual.language, usual.model, usual.prompt) = (nil, nil, nil)
        set = left.map { "\($0.key)=\($0.value)" }
    }

    private static func pair(_ text: String) -> (name: String, value: String)? {
        guard let sign = text.firstIndex(of: "="), WordTemplate.isName(text[..<sign]) else {
            return nil
        }
        return (String(text[..<sign]), String(text[text.index(after: sign)...]))
    }
}

package struct PresetOption: ParsableArguments {
    package init() {}

    @Option(
        name: .customLong("preset"),
        help: ArgumentHelp(
            "The settings of this name, a table 'presets.NAME' of the file, before all others.",
            valueName: "name"))
    package internal(set) var name: String?

    package mutating func validate() throws {
        if let name { Configuration.choose(preset: name) }
    }
}

package struct WordOptions: ParsableArguments {
    package init() {}

    @Option(help: ArgumentHelp("The language that is spoken, such as en.", valueName: "language"))
    var language: String?

    @Option(help: ArgumentHelp("The service's model.", valueName: "model"))
    var model: String?

    @Option(
        help: ArgumentHelp(
            "What helps the service to understand: names, spellings, a topic.", valueName: "text"))
    var prompt: String?

    package var words: [String: String] {
        ["language": language, "model": model, "prompt": prompt].compactMapValues(\.self)
    }
}
