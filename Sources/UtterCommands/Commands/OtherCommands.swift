// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Cryptography
internal import UtterTerminal

/// A command that another program carries out, which has its options and its help.
protocol OtherCommand: ParsableCommand {}

struct ServeLaunch: OtherCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the built-in recognition endpoint (see 'utter serve --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the endpoint.")
    var options: [String] = []

    func run() throws { throw OtherProgram.endpoint.execute(["serve"] + options) }
}

struct DemoLaunch: OtherCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Replay a sample to a built-in endpoint in real time (see 'utter demo --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the demo.")
    var options: [String] = []

    func run() throws { throw OtherProgram.endpoint.execute(["demo"] + options) }
}

struct KeysLaunch: OtherCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Talk while a key is held in any window (see 'utter keys --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the command.")
    var options: [String] = []

    func run() throws { throw OtherProgram.keys.execute(["keys"] + options) }
}

struct FleetLaunch: OtherCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Transcribe a store on many machines (see 'utter fleet --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the command.")
    var options: [String] = []

    func run() throws { throw OtherProgram.work.execute(["fleet"] + options) }
}

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make a key that encrypts takes on the disk.",
        subcommands: [NewKeyCommand.self])
}

struct NewKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Write a new random key to a file that only you can read.",
        discussion: """
            The file must not exist. Keep a copy of it elsewhere: what is encrypted with
            the key is lost with it.
            """)

    @Flag(help: "Make a passphrase instead, which a person can type: 100 random bits.")
    var passphrase = false

    @Argument(help: "The file to write, which must not exist.", completion: .file())
    var file: String

    func run() throws {
        let made = passphrase ? EncryptionKey.makePassphrase() : nil
        var key = made.map { $0.bytes + [0x0A] } ?? EncryptionKey.makeText()
        defer { key.clear() }
        try SecretFile.make(key, at: file)
        StandardError.line(
            "a new \(made.map { "passphrase of \($0.bits) random bits" } ?? "key") is in '\(file)'; keep a copy of it elsewhere: without it, takes cannot be opened"
        )
        let path = ShellWord.quoted(file)
        StandardError.hint(
            "encrypt takes with: utter --encrypt-key \(path), or UTTER_ENCRYPT_KEY_FILE=\(path)")
    }
}
