// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
internal import UtterSettings

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

    /// The same for a service, or a preset, that a request names: what the settings and profiles here
    /// say of it counts instead of the options.
    func serving(_ name: String?, _ preset: String?) throws(CommandFailure) -> RecorderOptions {
        guard name != nil || preset != nil else { return self }
        if let name, Profiles.isPath(name) {
            throw CommandFailure("'\(name)' cannot be the name of a service", status: .usage)
        }
        var options = self
        let settings = try Configuration.current()
        let isOfPreset = { (name: String) -> Bool in settings[name]?.isOfPreset == true }
        if name != nil || isOfPreset(KnownSettings.service.name) {
            options.service = try orFailure { try ServiceOptions.parse([]) }
            options.service.profile.service = name
        } else {
            options.service.profile.leaveOutWords(where: isOfPreset)
        }
        return options
    }

    /// How the takes of a recorder are stored, by the names of settings, as they count now.
    var storage: [String: String] {
        get throws(CommandFailure) {
            var storage: [String: String] = [:]
            let (key, command) = (KnownSettings.keyFile, KnownSettings.keyCommand)
            storage[key.name] = try key.value(encryption.encryptKey)
            storage[command.name] = try command.value(encryption.encryptKeyCommand)
            for setting in [KnownSettings.archivePlace, KnownSettings.archiveService] {
                storage[setting.name] = try setting.value()
            }
            for setting in [KnownSettings.keepRequired, KnownSettings.archiveDecrypts] {
                storage[setting.name] = "\(try setting.value() ?? false)"
            }
            return storage
        }
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
