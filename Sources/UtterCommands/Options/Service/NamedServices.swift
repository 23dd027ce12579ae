// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
package import Utter

/// The door to services for the other programs of the package: by the person's settings,
/// profiles and variables, as `utter send` reads them.
package enum NamedServices {
    /// How a take is delivered to a service, nil being the usual one, and which rules its text goes
    /// through; without its secrets.
    package static func delivery(
        to name: String?, words: [String: String] = [:]
    ) throws(CommandFailure) -> DeliveryPlan {
        let said = words.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
        let options = try parsed((name.map { ["--service", $0] } ?? []) + said)
        var plan = try options.delivery(format: nil)
        TextSettings.apply(to: &plan)
        return plan
    }

    /// How a take is delivered to a URL.
    package static func delivery(at url: String) throws(CommandFailure) -> DeliveryPlan {
        try parsed(["--to", url]).delivery(format: nil)
    }

    /// How objects below a place such as `s3://BUCKET/PREFIX`, whose prefix may be empty, are
    /// reached: the delivery of one object there, and the prefix.
    ///
    /// The name is of a profile or a table of settings; nil is that of the archive, or `s3`.
    package static func store(
        _ place: String, by name: String?
    ) throws(CommandFailure) -> (delivery: DeliveryPlan, prefix: String) {
        guard let match = place.wholeMatch(of: /(?i:s3):\/\/([^\/]+)(?:\/(.*?))?\/?/) else {
            throw CommandFailure(
                "--store: '\(place)' is not a place in a store",
                hint: "write it as s3://BUCKET/PREFIX", status: .usage)
        }
        let prefix = match.output.2.map(String.init) ?? ""
        let usual = try KnownSettings.archiveService.value()
        let object = "s3://\(match.output.1)/\(prefix.isEmpty ? "" : prefix + "/")mark"
        let service = name ?? usual ?? "s3"
        return (try parsed(["--to", object, "--service", service]).trialPlan(), prefix)
    }

    /// Whether a service of this name keeps recordings and recognises nothing.
    package static func onlyStores(_ name: String) -> Bool {
        // A missing profile does neither.
        (try? Profiles.shipped.profile(name))?.answer.empty == .stored
    }

    package static var secrets: SecretProvider { SecretAsker().answer }

    /// Reads a file of any form, also one that comes from outside.
    package static func recording(_ path: String) -> any CaptureSource {
        FileReplay(path: path, pace: .unpaced, converter: .installed)
    }

    private static func parsed(_ words: [String]) throws(CommandFailure) -> ServiceOptions {
        do {
            return try ServiceOptions.parse(words)
        } catch {
            throw CommandFailure(
                CommandFailure(known: error)?.message ?? ServiceOptions.message(for: error),
                status: .configuration)
        }
    }
}
