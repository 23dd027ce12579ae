// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import FoundationEssentials
import Utter
internal import UtterTerminal

struct StatsCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count words, minutes and waiting times.",
        discussion: """
            Of the texts on the disk, by day and by service: words, minutes of sound, words a
            minute, and how long the text came after the last sound: of half of them, and of
            nineteen of twenty. Nothing is counted but what 'utter list' has, and nothing is
            sent anywhere. A cost is there for services that stats.prices has a price of:
            utter config set stats.prices "openai=0.006, deepgram=0.0043", for each minute.
            """)

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    private struct Report: Encodable {
        let days, services: [TakeStatistics.Row]
        let all: TakeStatistics.Row
    }

    func run() throws {
        let prices = try KnownSettings.prices.value() ?? [:]
        let takes = try Spool(encryption).takes()
        let statistics = TakeStatistics(takes.compactMap(Self.item), prices: prices)
        if json {
            let report = Report(
                days: statistics.days, services: statistics.services, all: statistics.all)
            try StandardOutput.show(JSONOutput.text(report, isPretty: true))
        } else if statistics.all.takes > 0 {
            try StandardOutput.show(statistics.lines.joined(separator: "\n"))
        } else {
            StandardError.line("there is no text yet")
        }
        takes.tellLocked()
    }

    private static func item(_ take: KeptTake) -> TakeStatistics.Item? {
        guard let manifest = take.known, manifest.state == .answered, let began = take.began else {
            return nil
        }
        // A take of a service that is not known any more has its address.
        let service = (try? DeliveryPlan(of: take).serviceName) ?? manifest.lastURL
        return TakeStatistics.Item(
            day: String(LocalTime(began).exact.prefix(10)), service: service,
            words: TakeStatistics.words(in: manifest.transcript ?? ""),
            length: Double(manifest.frames ?? 0) / 16_000, waited: manifest.story?.waited)
    }
}
