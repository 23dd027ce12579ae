// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

struct RecorderOptions: ParsableArguments {
    @OptionGroup(title: "Voice")
    var voice: VoiceOptions

    @OptionGroup(title: "Text")
    var output: OutputOptions

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    var serviceName: String? {
        service.profile.service.flatMap { Profiles.isPath($0) ? nil : $0 }
    }

    /// Whether a person has said what to record, and where it goes, other than by the name of a
    /// service: that counts only where the recording is.
    var sayHow: Bool {
        var service = service
        if serviceName != nil { service.profile.service = nil }
        service.profile.preset.name = nil
        return Self.areGiven(voice) || Self.areGiven(service) || Self.areGiven(keep)
            || Self.areGiven(encryption)
    }

    /// The same for a service, or a preset, that a request names, of which only what the settings and
    /// profiles here say counts.
    func serving(_ name: String?, _ preset: String?) throws(CommandFailure) -> RecorderOptions {
        guard name != nil || preset != nil else { return self }
        if let name, Profiles.isPath(name) {
            throw CommandFailure("'\(name)' cannot be the name of a service", status: .usage)
        }
        var options = self
        options.service = try orFailure { try ServiceOptions.parse([]) }
        options.service.profile.service = name
        return options
    }

    /// Whether options are other than those of an empty command line.
    private static func areGiven<Options: ParsableArguments>(_ options: Options) -> Bool {
        // An empty command line is always understood.
        guard let none = try? Options.parse([]) else { return false }
        return String(describing: none) != String(describing: options)
    }

    /// As options, variables and settings say it now; reads secrets.
    func delivery() throws(CommandFailure) -> DeliveryPlan {
        try service.delivery(format: voice.format, isSpoken: true)
    }
}
