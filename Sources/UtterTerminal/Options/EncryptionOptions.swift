// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import LinuxPlatform
package import Utter

/// The key under which takes are kept on the disk.
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

    package mutating func validate() throws {
        if encryptKey != nil && encryptKeyCommand != nil {
            throw ValidationError("--encrypt-key excludes --encrypt-key-command.")
        }
    }

    /// Reads the key, and sees to it that it does not end up in a core dump.
    ///
    /// Waits for the command, when there is one.
    ///
    /// - Returns: nil when takes are not to be encrypted.
    /// - Throws: `CommandFailure` when there is to be a key and it cannot be used.
    package func key() throws(CommandFailure) -> EncryptionKey? {
        var name = "--encrypt-key"
        var (file, command) = (encryptKey, encryptKeyCommand)
        if file == nil && command == nil {
            file = Self.variable(Self.fileVariable)
            command = Self.variable(Self.commandVariable)
            name = file == nil ? Self.commandVariable : Self.fileVariable
            if file != nil && command != nil {
                throw CommandFailure(
                    "\(Self.fileVariable) and \(Self.commandVariable) are both set",
                    hint: "unset one of them", status: .configuration)
            }
        } else if command != nil {
            name = "--encrypt-key-command"
        }
        guard file != nil || command != nil else { return nil }
        CoreDumps.forbid()
        var secret: [UInt8] = []
        if let file {
            secret = try SecretFile.bytes(of: file, option: name)
        } else if let command {
            secret = try SecretCommand(command, option: name).output()
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

extension EncryptionOptions {
    /// What the environment says.
    package static var ofEnvironment: EncryptionOptions {
        var options = EncryptionOptions()
        (options.encryptKey, options.encryptKeyCommand) = (nil, nil)
        return options
    }
}
