// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `utter serve`: hands over to `utter-endpoint serve`.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the built-in recognition endpoint (see 'utter serve --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the endpoint.")
    var options: [String] = []

    func run() throws { throw OtherProgram.endpoint.execute(["serve"] + options) }
}

/// `utter demo`: hands over to `utter-endpoint demo`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Replay a sample to a built-in endpoint in real time (see 'utter demo --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the demo.")
    var options: [String] = []

    func run() throws { throw OtherProgram.endpoint.execute(["demo"] + options) }
}

/// `utter keys`: hands over to `utter-keys keys`.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Talk while a key is held in any window (see 'utter keys --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the command.")
    var options: [String] = []

    func run() throws { throw OtherProgram.keys.execute(["keys"] + options) }
}
