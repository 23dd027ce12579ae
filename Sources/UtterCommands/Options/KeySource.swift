// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Cryptography
internal import LinuxPlatform
internal import UtterSettings
internal import UtterTerminal

struct EncryptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep takes encrypted, with the key or passphrase in this file; 'utter key new' makes "
                + "a key. Otherwise UTTER_ENCRYPT_KEY_FILE.",
            valueName: "file", visibility: .hidden))
    var encryptKey: String?

    @Option(
        help: ArgumentHelp(
            "The same, with what this shell command prints. Otherwise UTTER_ENCRYPT_KEY_COMMAND.",
            valueName: "command", visibility: .hidden))
    var encryptKeyCommand: String?

    func validate() throws {
        if encryptKey != nil && encryptKeyCommand != nil {
            throw ValidationError("--encrypt-key and --encrypt-key-command cannot be used together")
        }
    }

    var source: KeySource { KeySource(file: encryptKey, command: encryptKeyCommand) }
}

/// Where the key of the takes on the disk comes from: a file or a command, which the command line
/// names, or else the environment or the file of settings.
package struct KeySource: Sendable {
    let file: String?
    let command: String?

    /// The source that the environment or the file of settings names.
    static let environment = KeySource(file: nil, command: nil)

    private enum Place {
        case file(String, named: String)
        case command(String, named: String)
    }

    /// Whether takes are to be encrypted; no key is read for this.
    var isSet: Bool {
        get throws(CommandFailure) { try place() != nil }
    }

    /// Waits for the command, which may ask the person; with a loan while a take records; nil when
    /// takes are not to be encrypted.
    func key(_ loan: TerminalLoan? = nil) throws(CommandFailure) -> EncryptionKey? {
        switch try place() {
        case nil: nil
        case .file(let path, let name)?:
            try Self.key(try explained(name) { try OwnFile(path).bytes() }, name)
        case .command(let command, let name)?:
            try Self.key(try SecretCommand(command: command, option: name).output(loan: loan), name)
        }
    }

    private func place() throws(CommandFailure) -> Place? {
        if let file { return .file(file, named: "--encrypt-key") }
        if let command { return .command(command, named: "--encrypt-key-command") }
        let settings = (KnownSettings.keyFile, KnownSettings.keyCommand)
        if let file = Configuration.said(of: settings.0.name) {
            return .file(file, named: settings.0.name)
        }
        if let command = Configuration.said(of: settings.1.name) {
            return .command(command, named: settings.1.name)
        }
        let configuration = try Configuration.current()
        if let file = configuration[settings.0.name], file.isOfPreset {
            return .file(file.text, named: settings.0.name)
        }
        if let command = configuration[settings.1.name], command.isOfPreset {
            return .command(command.text, named: settings.1.name)
        }
        let (file, command) = (try settings.0.variableText(), try settings.1.variableText())
        if let file, let variable = settings.0.variable {
            if command != nil {
                throw CommandFailure(
                    "\(variable) and \(settings.1.variable ?? "") are both set",
                    hint: "unset one of them", status: .configuration)
            }
            return .file(file, named: variable)
        }
        if let command, let variable = settings.1.variable {
            return .command(command, named: variable)
        }
        if let file = configuration[settings.0.name] {
            return .file(file.text, named: settings.0.name)
        }
        return configuration[settings.1.name].map { .command($0.text, named: settings.1.name) }
    }

    private static func key(
        _ bytes: consuming [UInt8], _ name: String
    ) throws(CommandFailure) -> EncryptionKey {
        var secret = bytes
        defer { secret.clear() }
        // Editors and commands end the last line; its end is no part of the key.
        for end in [0x0A, 0x0D] as [UInt8] where secret.last == end { secret.removeLast() }
        return try explained(name) { try EncryptionKey(secret: secret) }
    }

    /// While a take records, whose keys `signals` reads.
    func key(during signals: Signals) throws(CommandFailure) -> EncryptionKey {
        let loan = try orFailure { try TerminalLoan(from: signals) }
        guard let key = try key(loan) else {
            throw CommandFailure("the settings name no key any more", status: .configuration)
        }
        return key
    }
}
