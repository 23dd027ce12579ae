// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform

/// The keyboards of a machine, as programs with `environment` see them; the library of
/// `Tests/VirtualKeyboard/virtualkeyboard.c` plays the kernel.
final class VirtualKeyboards: Sendable {
    let folder: TemporaryFolder
    let environment: [String: String]
    private let count = Atomic(0)

    private static let library = Result {
        let folder = try TemporaryFolder.forProcess()
        try ForeignTool("cc").run([
            "-shared", "-fPIC", "-D_GNU_SOURCE", "-O1", "-Wall", "-Werror", "-o",
            folder.path("virtualkeyboard.so"),
            SourceTree.path("Tests/VirtualKeyboard/virtualkeyboard.c"), "-ldl",
        ])
        return folder
    }

    init() throws {
        folder = try TemporaryFolder()
        try #require(mkdir(folder.path("about"), 0o700) == 0)
        environment = [
            "LD_PRELOAD": try Self.library.get().path("virtualkeyboard.so"),
            "UTTER_TEST_INPUT": folder.path,
        ]
    }

    /// Plugs in a keyboard that has keys, and which a person may have no right to read.
    func plug(
        _ keys: Set<Int> = VirtualKeyboard.usual, down: Set<Int> = [], isReadable: Bool = true
    ) throws -> VirtualKeyboard {
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        return try VirtualKeyboard(
            "event\(number)", in: folder, keys, down: down, isReadable: isReadable)
    }

    /// What a program did to them that it must not do.
    var complaints: String {
        // Without a complaint there is no file.
        (try? folder.read("about/log")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// One keyboard of a virtual machine.
final class VirtualKeyboard: Sendable {
    static let rightControl = 97
    static let letterC = 46
    static let usual: Set<Int> = [rightControl, letterC]

    let name: String
    private let folder: TemporaryFolder
    private let pipe: Mutex<OwnedDescriptor?>

    init(
        _ name: String, in folder: TemporaryFolder, _ keys: Set<Int>, down: Set<Int>,
        isReadable: Bool
    ) throws {
        (self.name, self.folder) = (name, folder)
        try folder.write(Self.bits(keys), to: "about/\(name).keys")
        try folder.write(Self.bits(down), to: "about/\(name).down")
        let path = folder.path("about/\(name).new")
        try #require(mkfifo(path, 0o600) == 0)
        let number = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(number >= 0)
        pipe = Mutex(OwnedDescriptor(taking: number))
        if !isReadable { chmod(path, 0) }
        try #require(rename(path, folder.path(name)) == 0)
    }

    /// Moves a key by a value of the kernel's, with its report, so long before now.
    func move(_ value: Int, _ key: Int = rightControl, ago: Duration = .zero) throws {
        try send([(1, key, value), (0, 0, 0)], ago: ago)
    }

    /// Presses the key, so long ago that it is no tap.
    func press() throws { try move(1, ago: .seconds(1)) }

    func release() throws { try move(0) }

    /// Presses the key and lets it go at once.
    func tap() throws {
        try move(1, ago: .milliseconds(100))
        try move(0)
    }

    /// Loses events, as the kernel does for a slow reader, until these keys are down.
    func drop(until down: Set<Int>) throws {
        try folder.write(Self.bits(down), to: "about/\(name).down")
        try send([(0, 3, 0), (0, 0, 0)])
    }

    /// Sends events as they are: type, code and value.
    func send(_ events: [(Int, Int, Int)], ago: Duration = .zero) throws {
        var clock = timespec()
        clock_gettime(CLOCK_MONOTONIC, &clock)
        let now = Duration.seconds(clock.tv_sec) + .nanoseconds(clock.tv_nsec) - ago
        let (seconds, attoseconds) = now.components
        var bytes: [UInt8] = []
        func add(_ value: Int, _ count: Int) {
            bytes += (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        for (type, code, value) in events {
            add(Int(seconds), 8)
            add(Int(attoseconds / 1_000_000_000_000), 8)
            add(type, 2)
            add(code, 2)
            add(value, 4)
        }
        let number = pipe.withLock { $0?.number ?? -1 }
        let count = Glibc.write(number, bytes, bytes.count)
        try #require(count == bytes.count)
    }

    /// Gives the right to read it.
    func permit() { chmod(folder.path(name), 0o600) }

    /// Pulls it out.
    func unplug() {
        unlink(folder.path(name))
        pipe.withLock { $0 = nil }
    }

    private static func bits(_ keys: Set<Int>) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 96)
        for key in keys { bytes[key / 8] |= 1 << UInt8(key % 8) }
        return bytes
    }
}

/// A machine with keyboards on which `utter keys --evdev` runs.
final class KeyboardBench: Sendable {
    let control: ControlBench
    let keyboards: VirtualKeyboards
    /// Held, because it goes with its last reference.
    private let running = Mutex<CommandRun?>(nil)

    init(_ server: RecordingServer, _ variables: [String: String] = [:]) throws {
        // Without a daemon it starts a recorder, which may end after its test.
        control = try ControlBench(server, variables.merging(["UTTER_FOREGROUND": "false"]) { $1 })
        keyboards = try VirtualKeyboards()
    }

    /// A daemon that hears a text, a keyboard, and `utter keys` that watches it.
    static func watching(
        _ text: String, daemon arguments: [String] = [], down: Set<Int> = []
    ) async throws -> (KeyboardBench, VirtualKeyboard, CommandRun) {
        let bench = try KeyboardBench(.hearing(text))
        try await bench.daemon(arguments)
        let keyboard = try bench.keyboards.plug(down: down)
        return (bench, keyboard, try await bench.watch())
    }

    var server: RecordingServer { control.server }

    /// Starts a daemon, which is there as long as the bench is.
    func daemon(_ arguments: [String] = []) async throws {
        let run = try control.bench.start(["daemon"] + arguments)
        running.withLock { $0 = run }
        #expect(await control.isAnswered())
    }

    var hasDaemonEnded: Bool { running.withLock { $0?.status != nil } }

    /// Starts `utter keys --evdev`, and waits until it watches the key.
    func watch(_ arguments: String...) async throws -> CommandRun {
        let run = try start(arguments)
        #expect(await run.wait(for: "and speak, or tap it", in: .error), "\(run.errorText)")
        return run
    }

    func start(_ arguments: [String]) throws -> CommandRun {
        try control.bench.start(
            ["keys", "--evdev"] + arguments, variables: keyboards.environment)
    }

    /// Waits until some bytes of a request have come: something is recorded.
    func isHeard(request: Int = 0) async throws {
        _ = try #require(await server.wait(untilBytes: 8_000, ofRequest: request))
    }

    /// Holds the key until something of the request has come.
    func speak(by keyboard: VirtualKeyboard, request: Int = 0) async throws {
        try keyboard.press()
        try await isHeard(request: request)
        try keyboard.release()
    }

    /// Ends `utter keys` by Ctrl-C.
    func end(_ run: CommandRun) async throws -> CommandResult {
        run.signal(SIGINT)
        return try await run.result()
    }
}

extension CommandRun {
    var errorText: String { String(decoding: error, as: UTF8.self) }
}
