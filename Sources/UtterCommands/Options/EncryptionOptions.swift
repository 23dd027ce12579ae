// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

struct EncryptionOptions: ParsableArguments {
    init() {}

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
            throw ValidationError("--encrypt-key excludes --encrypt-key-command.")
        }
    }

    var source: KeySource { KeySource(file: encryptKey, command: encryptKeyCommand) }
}
