// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import UtterSettings
internal import UtterTerminal

struct ServicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "services", abstract: "List, show, try and describe speech services.",
        subcommands: [
            ListServicesCommand.self, ShowServiceCommand.self, CheckServiceCommand.self,
            NewServiceCommand.self, TestServiceCommand.self, ServiceFieldsCommand.self,
        ],
        defaultSubcommand: ListServicesCommand.self)
}

struct ListServicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the services by name.",
        discussion: """
            Each line is a name, whether its token is there, what must be said with --set,
            and what the service is called.
            """)

    @Flag(help: "Print a JSON array.")
    var json = false

    func run() throws {
        try StandardOutput.give(json ? ServiceListing.json() : ServiceListing.table())
    }
}

struct ShowServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a service's profile as it counts.",
        discussion: """
            What it extends is put together with it; behind each line stands where it
            comes from. The profiles of your own are in ~/.config/utter/profiles.
            """)

    @Argument(help: "The service's name, or a file that describes it.", completion: .services)
    var name: String

    @Flag(help: "Print a JSON object with what a program may want to know.")
    var json = false

    func run() throws {
        let (profile, settings) = try Services.shown(name)
        try StandardOutput.give(
            json
                ? ServiceListing.json(of: profile, named: settings?.name)
                : ProfileListing.text(of: profile, by: settings))
    }
}

struct NewServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Write a profile with remarks, to be filled in.")

    @Argument(help: "The name of the new service.")
    var name: String

    func run() throws {
        let path = try Services.make(name)
        StandardError.line("a new profile is in '\(path)'")
        StandardError.hint("edit it, then try it with: utter services check \(name)")
    }
}

struct CheckServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say whether a service can be used: token, words, answer.",
        discussion: """
            Half a second of a quiet tone is sent, as a recording would be, and once more as a
            voice would be where that goes another way. That nothing
            was understood is what a service should say of it. Nothing is kept.
            """)

    @Argument(help: "The service's name, or a file that describes it.", completion: .services)
    var name: String

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    func run() async throws {
        try await ServiceTrial(name, service).run()
    }
}

struct TestServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send a recording by a profile, and say what came back.",
        discussion: "Nothing is kept, and nothing is tried again.")

    @Argument(help: "The file that describes the service, or its name.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("The recording, WAV or Ogg Opus.", valueName: "file"),
        completion: .file())
    var with: String

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    func run() async throws {
        try await ServiceTrial(file, service, recording: with).run()
    }
}

struct ServiceFieldsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fields", abstract: "List what a profile can say of a service.",
        discussion: """
            Each line is a field, the kind of its value, and what it says. A field stands in a
            profile, below [services.NAME] in the settings, where it counts over the profile,
            or is set for one command: -c transfer.framing=length.
            """)

    @Flag(help: "Print the names alone, as -c wants them.")
    var keys = false

    func run() throws {
        try StandardOutput.give(keys ? ServiceListing.fieldNames : ServiceListing.fields)
    }
}
