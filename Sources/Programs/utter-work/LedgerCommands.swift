// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Fleet
import LinuxPlatform
import TakeStore
import Utter
import UtterCommands
internal import UtterTerminal

struct FleetStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say how many takes wait, run, are done and dead, and when the end is expected.",
        discussion: """
            The numbers of takes are counted in the store. The time of their audio is an
            estimate, by the mean of up to 64 takes that are done; so is the end, by the rate of
            the last hour.
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup(title: "Store")
    var store: StoreOptions

    @OptionGroup(title: "Queue")
    var queue: QueueOptions

    func run() async throws {
        let status = try await store.use(onlyReads: true) { try FleetStatus($0, queue.open()) }
        if json {
            var bytes = status.json
            bytes.removeLast()
            return try give(String(decoding: bytes, as: UTF8.self))
        }
        var lines = [
            line("waiting", status.waiting, status.estimatedWaitingSeconds),
            line("working", status.working, status.estimatedWorkingSeconds),
            line("done", status.done, status.estimatedDoneSeconds),
            line("dead", status.dead, status.estimatedDeadSeconds),
        ]
        if let oldest = status.oldest, let age = status.oldestAge {
            lines.append("oldest   \(oldest), \(time(age)) old")
        }
        if let rate = status.marksPerMinute {
            lines.append("rate     \((rate * 10).rounded() / 10) takes a minute")
        }
        if let end = status.estimatedEnd, status.waiting + status.working > 0 {
            lines.append("end      about \(end)")
        }
        if let misplaced = status.misplaced {
            lines.append(TerminalText.singleLine(TerminalText.sanitized(misplaced)))
        }
        try give(lines.joined(separator: "\n"))
    }

    private func line(_ name: String, _ count: Int, _ seconds: Double?) -> String {
        let name = name + String(repeating: " ", count: 9 - name.count)
        return "\(name)\(count)"
            + (seconds.map { ", about \(time($0)) of audio" } ?? "")
    }
}

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Put each take without a result into the queue, and write missing texts.",
        discussion: "Workers do the same each hour. What the queue has is not put in twice.")

    @OptionGroup(title: "Store")
    var store: StoreOptions

    @OptionGroup(title: "Queue")
    var queue: QueueOptions

    func validate() throws {
        guard queue.queue != nil else { throw ValidationError("--queue names the queue.") }
    }

    func run() async throws {
        let count = try await store.use { objects in
            try queue.open().map { queue in
                try Reconciler(objects, queue) { StandardError.line($0) }.checkAll()
            } ?? 0
        }
        StandardError.line("put \(count) \(count == 1 ? "take" : "takes") into the queue")
    }
}

struct DeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead", abstract: "List the takes that were given up, and why.")

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @OptionGroup(title: "Store")
    var store: StoreOptions

    // Each command of a fleet takes the same places; this one asks the store alone.
    @OptionGroup(title: "Queue")
    var queue: QueueOptions

    func run() async throws {
        let marks = try await store.use(onlyReads: true) { try $0.deaths() }
        for mark in marks {
            let reason = TerminalText.singleLine(TerminalText.sanitized(mark.reason ?? ""))
            try give(json ? mark.line : "\(mark.id.text)  \(reason)")
        }
    }
}

struct RetryDeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Have takes done again that were given up.",
        discussion: "Takes are named by their ids; 'all' stands for all that are dead.")

    @Argument(help: "The takes, or all.")
    var takes: [String] = []

    @Option(
        help: ArgumentHelp("Those whose reason has this text.", valueName: "text"))
    var reason: String?

    @OptionGroup(title: "Store")
    var store: StoreOptions

    @OptionGroup(title: "Queue")
    var queue: QueueOptions

    func validate() throws {
        guard takes.isEmpty == (reason != nil) else {
            throw ValidationError("Name takes, or a part of their --reason.")
        }
        guard reason?.isEmpty != true else {
            throw ValidationError("--reason: a part of it; 'all' stands for all.")
        }
        for take in takes where take != "all" && TakeID(take) == nil {
            throw ValidationError("'\(take)' is not the name of a take.")
        }
    }

    func run() async throws {
        let (count, missing) = try await store.use { objects in
            let line = try queue.open()
            var ids = takes.compactMap { TakeID($0) }
            if takes.contains("all") || reason != nil {
                ids = try objects.deaths().filter { mark in
                    reason.map { (mark.reason ?? "").contains($0) } ?? true
                }.map(\.id)
            }
            let missing = try ids.filter { try !objects.retry($0, in: line) }
            return (ids.count - missing.count, missing)
        }
        StandardError.line("opened \(count) \(count == 1 ? "take" : "takes") again")
        guard let first = missing.first else { return }
        throw CommandFailure(
            "take \(first.text) is not dead", hint: "those that are: utter fleet dead",
            status: .noInput)
    }
}

private func give(_ text: String) throws(CommandFailure) {
    guard !StandardOutput.print(text) else { return }
    throw CommandFailure("standard output takes nothing", status: .localIO)
}

/// Such as `3 h 20 min`.
private func time(_ seconds: Double) -> String {
    let whole = Int(min(seconds, 1e12).rounded())
    switch whole {
    case ..<120: return "\(whole) s"
    case ..<7_200: return "\(whole / 60) min"
    case ..<172_800: return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
    default: return "\(whole / 86_400) d \(whole % 86_400 / 3_600) h"
    }
}
