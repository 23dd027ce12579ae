// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Fleet
import TakeStore
import Utter
import UtterCommands
internal import UtterTerminal

/// `utter-work status`: how the fleet stands.
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
        let status = try await onOwnThread {
            let objects = try store.open(FleetNumbers())
            defer { objects.link.shutDown() }
            return try FleetStatus(objects, try queue.open())
        }
        if json {
            var bytes = status.json
            bytes.removeLast()
            return try FleetOutput.give(String(decoding: bytes, as: UTF8.self))
        }
        var lines = [
            line("waiting", status.waiting, status.estimatedWaitingSeconds),
            line("working", status.working, status.estimatedWorkingSeconds),
            line("done", status.done, status.estimatedDoneSeconds),
            line("dead", status.dead, status.estimatedDeadSeconds),
        ]
        if let oldest = status.oldest, let age = status.oldestAge {
            lines.append("oldest   \(oldest), \(FleetOutput.time(age)) old")
        }
        if let rate = status.marksPerMinute {
            lines.append("rate     \((rate * 10).rounded() / 10) takes a minute")
        }
        if let end = status.estimatedEnd, status.waiting + status.working > 0 {
            lines.append("end      about \(end)")
        }
        try FleetOutput.give(lines.joined(separator: "\n"))
    }

    private func line(_ name: String, _ count: Int, _ seconds: Double?) -> String {
        let name = name + String(repeating: " ", count: 9 - name.count)
        return "\(name)\(count)"
            + (seconds.map { ", about \(FleetOutput.time($0)) of audio" } ?? "")
    }
}

/// `utter-work check`: puts into the queue what it lacks.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Put each take without a result into the queue.",
        discussion: "Workers do the same each hour. What the queue has is not put in twice.")

    @OptionGroup(title: "Store")
    var store: StoreOptions

    @OptionGroup(title: "Queue")
    var queue: QueueOptions

    func validate() throws {
        guard queue.queue != nil else { throw ValidationError("--queue names the queue.") }
    }

    func run() async throws {
        let count = try await onOwnThread {
            let (numbers, queue) = (FleetNumbers(), try queue.open())
            let objects = try store.open(numbers)
            defer { objects.link.shutDown() }
            guard let queue else { return 0 }
            return try Reconciler(objects, queue, numbers: numbers).checkAll()
        }
        StandardError.line("put \(count) \(count == 1 ? "take" : "takes") into the queue")
    }
}

/// `utter-work dead`: lists takes that were given up.
struct DeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead", abstract: "List the takes that were given up, and why.")

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @OptionGroup(title: "Store")
    var store: StoreOptions

    func run() async throws {
        let marks = try await onOwnThread {
            let objects = try store.open(FleetNumbers())
            defer { objects.link.shutDown() }
            return try Deaths(objects, nil).all()
        }
        for mark in marks {
            try FleetOutput.give(
                json ? mark.line : "\(mark.id.text)  \(FleetOutput.plain(mark.reason ?? ""))")
        }
    }
}

/// `utter-work retry`: opens dead takes again.
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
        for take in takes where take != "all" && TakeID(take) == nil {
            throw ValidationError("'\(take)' is not the name of a take.")
        }
    }

    func run() async throws {
        let (count, missing) = try await onOwnThread {
            let (queue, objects) = (try queue.open(), try store.open(FleetNumbers()))
            defer { objects.link.shutDown() }
            let deaths = Deaths(objects, queue)
            var ids = takes.compactMap { TakeID($0) }
            if takes.contains("all") || reason != nil {
                ids = try deaths.all().filter { mark in
                    reason.map { (mark.reason ?? "").contains($0) } ?? true
                }.map(\.id)
            }
            var missing: [TakeID] = []
            for id in ids where try !deaths.retry(id) { missing.append(id) }
            return (ids.count - missing.count, missing)
        }
        StandardError.line("opened \(count) \(count == 1 ? "take" : "takes") again")
        guard let first = missing.first else { return }
        throw CommandFailure(
            "take \(first.text) is not dead", hint: "those that are: utter fleet dead",
            status: .noInput)
    }
}
