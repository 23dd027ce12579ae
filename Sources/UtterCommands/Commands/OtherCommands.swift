// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the built-in recognition endpoint (see 'utter serve --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the endpoint.")
    var options: [String] = []

    func run() throws { throw OtherProgram.endpoint.execute(["serve"] + options) }
}

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Replay a sample to a built-in endpoint in real time (see 'utter demo --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the demo.")
    var options: [String] = []

    func run() throws { throw OtherProgram.endpoint.execute(["demo"] + options) }
}

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Talk while a key is held in any window (see 'utter keys --help').")

    @Argument(parsing: .captureForPassthrough, help: "Options of the command.")
    var options: [String] = []

    func run() throws { throw OtherProgram.keys.execute(["keys"] + options) }
}
