// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
package import Utter

/// What the other programs of the package need to know of services: by the person's settings,
/// profiles and variables, as `utter send` reads them.
package enum NamedServices {
    /// How a take is delivered to a service.
    ///
    /// - Parameters:
    ///   - name: the service's; nil is the usual one.
    ///   - words: what is said to it.
    /// - Returns: the delivery, without its secrets.
    /// - Throws: `CommandFailure` when there is no such service, or it does not take the words.
    package static func delivery(
        to name: String?, words: [String: String] = [:]
    ) throws(CommandFailure) -> DeliveryPlan {
        let said = words.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
        return try parsed((name.map { ["--service", $0] } ?? []) + said) {
            options throws(CommandFailure) in
            try options.planner(format: nil)(SampleSource.silence(.zero), CapturePlan()).delivery
        }
    }

    /// How objects below a place such as `s3://BUCKET/PREFIX` are reached.
    ///
    /// - Parameters:
    ///   - place: the bucket and the prefix, which may be empty.
    ///   - name: the profile or the table of settings; nil is that of the archive, or `s3`.
    /// - Returns: the delivery of one object there, and the prefix.
    /// - Throws: `CommandFailure` when it is not a place, or there is no such service.
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
        let delivery = try parsed(["--to", object, "--service", service]) {
            options throws(CommandFailure) in try options.trialPlan()
        }
        return (delivery, prefix)
    }

    /// Whether a service of this name keeps recordings and recognises nothing.
    package static func onlyStores(_ name: String) -> Bool {
        // One that is not there does neither.
        (try? Profiles.shipped.profile(name))?.answer.empty == .stored
    }

    /// Answers for the secrets that deliveries only name.
    package static var secrets: SecretProvider { SecretAsker().answer }

    /// Reads a file of any form, also one that comes from outside.
    package static func recording(_ path: String) -> any CaptureSource {
        ConvertedFile(path: path, pace: .unpaced, isFetched: true)
    }

    private static func parsed<Value>(
        _ words: [String], _ body: (ServiceOptions) throws(CommandFailure) -> Value
    ) throws(CommandFailure) -> Value {
        let options: ServiceOptions
        do {
            options = try ServiceOptions.parse(words)
        } catch {
            throw CommandFailure(
                CommandFailure(known: error)?.message ?? ServiceOptions.message(for: error),
                status: .configuration)
        }
        return try body(options)
    }
}
