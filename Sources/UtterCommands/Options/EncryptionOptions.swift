// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import Cryptography
internal import LinuxPlatform
internal import Synchronization
internal import Utter

/// The key under which takes are kept on the disk.
///
/// A command that lists these options needs no more than that: whoever opens the takes asks for
/// `key()`. A command that does not still has the environment.
package struct EncryptionOptions: ParsableArguments {
    private static let fileVariable = "UTTER_ENCRYPT_KEY_FILE"
    private static let commandVariable = "UTTER_ENCRYPT_KEY_COMMAND"

    /// Creates options that have not been parsed yet.
    package init() {}

    @Option(
        help: ArgumentHelp(
            "Keep takes encrypted, with the key in this file. Otherwise UTTER_ENCRYPT_KEY_FILE.",
            valueName: "file"))
    package var encryptKey: String?

    @Option(
        help: ArgumentHelp(
            "The same, with what this shell command prints. Otherwise UTTER_ENCRYPT_KEY_COMMAND.",
            valueName: "command"))
    package var encryptKeyCommand: String?

    /// Only what the environment says.
    package static var standard: EncryptionOptions {
        var options = EncryptionOptions()
        (options.encryptKey, options.encryptKeyCommand) = (nil, nil)
        return options
    }

    package mutating func validate() throws {
        if encryptKey != nil && encryptKeyCommand != nil {
            throw ValidationError("--encrypt-key excludes --encrypt-key-command.")
        }
        Self.chosen.withLock { [self] in ($0.file, $0.command) = (encryptKey, encryptKeyCommand) }
    }

    /// What the command line says, and the key once it has been read.
    private struct Chosen {
        var file: String?
        var command: String?
        var key: EncryptionKey??
    }

    private static let chosen = Mutex(Chosen())

    /// The key that the command line or else the environment names.
    ///
    /// Read once a process, since a command may ask the person. Waits for that command.
    ///
    /// - Returns: nil when takes are not to be encrypted.
    /// - Throws: `CommandFailure` when there is to be a key and it cannot be used.
    package static func key() throws(CommandFailure) -> EncryptionKey? {
        let chosen = chosen.withLock { $0 }
        if let key = chosen.key { return key }
        let key = try readKey(chosen.file, chosen.command)
        Self.chosen.withLock { $0.key = .some(key) }
        return key
    }

    private static func readKey(
        _ file: String?, _ command: String?
    ) throws(CommandFailure) -> EncryptionKey? {
        if let file { return try makeKey(.file(file), "--encrypt-key") }
        if let command { return try makeKey(.command(command), "--encrypt-key-command") }
        switch (variable(fileVariable), variable(commandVariable)) {
        case (nil, nil): return nil
        case (let file?, nil): return try makeKey(.file(file), fileVariable)
        case (nil, let command?): return try makeKey(.command(command), commandVariable)
        case (.some, .some):
            throw CommandFailure(
                "\(fileVariable) and \(commandVariable) are both set", hint: "unset one of them",
                status: .configuration)
        }
    }

    private enum Origin {
        case file(String)
        case command(String)
    }

    /// Reads the key, and sees to it that it does not end up in a core dump.
    private static func makeKey(
        _ origin: Origin, _ name: String
    ) throws(CommandFailure) -> EncryptionKey {
        CoreDumps.forbid()
        var secret: [UInt8]
        switch origin {
        case .file(let path): secret = try SecretFile.bytes(of: path, option: name)
        case .command(let command): secret = try SecretCommand(command, option: name).output()
        }
        defer { for index in secret.indices { secret[index] = 0 } }
        // Editors and commands end the last line; its end is no part of the key.
        for end in [0x0A, 0x0D] as [UInt8] where secret.last == end { secret.removeLast() }
        guard let key = EncryptionKey(secret: secret) else {
            throw CommandFailure(
                "\(name): a key has at least \(EncryptionKey.minimumByteCount) bytes",
                hint: "make one with: (umask 077; head -c 32 /dev/urandom | base64 > FILE)",
                status: .configuration)
        }
        return key
    }

    private static func variable(_ name: String) -> String? {
        Environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
