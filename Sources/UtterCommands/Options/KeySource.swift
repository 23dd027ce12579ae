// SPDX-License-Identifier: Apache-2.0

package import Cryptography
internal import LinuxPlatform

/// Where the key of the takes on the disk comes from: a file or a command, which the command line
/// names, or else the environment.
package struct KeySource: Sendable {
    private static let fileVariable = "UTTER_ENCRYPT_KEY_FILE"
    private static let commandVariable = "UTTER_ENCRYPT_KEY_COMMAND"

    private let file: String?
    private let command: String?

    /// Takes over what the options say; at most one of them is given.
    package init(file: String?, command: String?) { (self.file, self.command) = (file, command) }

    /// What the environment says.
    package static let environment = KeySource(file: nil, command: nil)

    /// Reads the key.
    ///
    /// Waits for the command, which may ask the person.
    ///
    /// - Returns: nil when takes are not to be encrypted.
    /// - Throws: `CommandFailure` when there is to be a key and it cannot be used.
    package func key() throws(CommandFailure) -> EncryptionKey? {
        if let file { return try Self.key(inFile: file, named: "--encrypt-key") }
        if let command { return try Self.key(from: command, named: "--encrypt-key-command") }
        let file = Self.variable(Self.fileVariable)
        let command = Self.variable(Self.commandVariable)
        if file != nil && command != nil {
            throw CommandFailure(
                "\(Self.fileVariable) and \(Self.commandVariable) are both set",
                hint: "unset one of them", status: .configuration)
        }
        if let file { return try Self.key(inFile: file, named: Self.fileVariable) }
        return try command.map { command throws(CommandFailure) in
            try Self.key(from: command, named: Self.commandVariable)
        }
    }

    private static func key(
        inFile path: String, named name: String
    ) throws(CommandFailure) -> EncryptionKey {
        CoreDumps.forbid()
        return try key(try SecretFile.bytes(of: path, option: name), name)
    }

    private static func key(
        from command: String, named name: String
    ) throws(CommandFailure) -> EncryptionKey {
        CoreDumps.forbid()
        return try key(try SecretCommand(command, option: name).output(), name)
    }

    private static func key(
        _ bytes: consuming [UInt8], _ name: String
    ) throws(CommandFailure) -> EncryptionKey {
        var secret = bytes
        defer { secret.clear() }
        // Editors and commands end the last line; its end is no part of the key.
        for end in [0x0A, 0x0D] as [UInt8] where secret.last == end { secret.removeLast() }
        do throws(KeyError) {
            return try EncryptionKey(secret: secret)
        } catch {
            throw CommandFailure(
                "\(name): \(error.description)", hint: Hints.of(error), status: .configuration)
        }
    }

    private static func variable(_ name: String) -> String? {
        Environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
