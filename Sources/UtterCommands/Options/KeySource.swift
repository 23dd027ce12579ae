// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// Where the key of the takes on the disk comes from: a file or a command, which the command line
/// names, or else the environment or the file of settings.
package struct KeySource: Sendable {
    private let file: String?
    private let command: String?

    /// Takes over what the options say; at most one of them is given.
    package init(file: String?, command: String?) { (self.file, self.command) = (file, command) }

    /// What the environment or the file of settings says.
    package static let environment = KeySource(file: nil, command: nil)

    /// Reads the key; nil when takes are not to be encrypted.
    ///
    /// Waits for the command, which may ask the person.
    package func key() throws(CommandFailure) -> EncryptionKey? {
        if let file { return try Self.key(inFile: file, named: "--encrypt-key") }
        if let command { return try Self.key(from: command, named: "--encrypt-key-command") }
        let settings = (KnownSettings.keyFile, KnownSettings.keyCommand)
        let (file, command) = (try settings.0.variableText(), try settings.1.variableText())
        if let file, let variable = settings.0.variable {
            if command != nil {
                throw CommandFailure(
                    "\(variable) and \(settings.1.variable ?? "") are both set",
                    hint: "unset one of them", status: .configuration)
            }
            return try Self.key(inFile: file, named: variable)
        }
        if let command, let variable = settings.1.variable {
            return try Self.key(from: command, named: variable)
        }
        let configuration = try Configuration.current()
        if let file = configuration[settings.0.name] {
            return try Self.key(inFile: file.text, named: settings.0.name)
        }
        return try configuration[settings.1.name].map { command throws(CommandFailure) in
            try Self.key(from: command.text, named: settings.1.name)
        }
    }

    private static func key(
        inFile path: String, named name: String
    ) throws(CommandFailure) -> EncryptionKey {
        try key(try SecretFile.bytes(of: path, option: name), name)
    }

    private static func key(
        from command: String, named name: String
    ) throws(CommandFailure) -> EncryptionKey {
        try key(try SecretCommand(command, option: name).output(), name)
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
}
