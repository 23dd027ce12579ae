// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import UtterControl

/// More clients than there is room for: those that only listen give way to those that ask.
@Suite struct ControlCrowdTests {
    private final class Answering: ControlHandler {
        let server = Mutex<WorkerLoop<ControlWorker>?>(nil)

        func receive(_ request: ControlRequest, from client: ControlClientID) {
            let reply: ControlReply =
                request.command == .follow ? .follow(ControlStatus()) : .answer(.done("served"))
            server.withLock { $0 }?.send(.reply(reply, client))
        }

        func didEnd(_ client: ControlClientID, hasPrinted: Bool) {}

        func lacksDescriptor(_ error: SystemError) {}
    }

    /// A connection, and the end of it that its client has.
    private struct Pair: ~Copyable {
        let connection: ControlConnection
        let client: OwnedDescriptor

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            client = OwnedDescriptor(taking: ends[1])
            connection = ControlConnection(
                ControlClientID(number: 1), OwnedDescriptor(taking: ends[0]))
        }
    }

    private func status(after milliseconds: Int) -> ControlStatus {
        var status = ControlStatus()
        status.elapsedMs = milliseconds
        return status
    }

    @Test func aFollowerIsToldTheNewestOnceItHasReadTheLast() throws {
        let pair = try Pair()
        let follower = pair.connection
        follower.become(.following)
        let later = ContinuousClock.now + .seconds(1)
        for milliseconds in 1...3 {
            follower.change(to: status(after: milliseconds))
            // Only the first is told; then it is looked again whether that was read.
            let next = follower.tellChange(now: later + .seconds(milliseconds))
            #expect((next == nil) == (milliseconds == 1))
        }
        let first = try LocalSocket.receive(from: pair.client.number)
        #expect(first == ControlAnswer.status(status(after: 1)).line)
        #expect(follower.tellChange(now: later + .seconds(4)) == nil)
        let second = try LocalSocket.receive(from: pair.client.number)
        #expect(second == ControlAnswer.status(status(after: 3)).line)
        // Nobody is told of a change that is taken back in time.
        for milliseconds in [4, 3] { follower.change(to: status(after: milliseconds)) }
        #expect(follower.tellChange(now: later + .seconds(5)) == nil)
        follower.change(to: status(after: 6))
        #expect(follower.tellChange(now: later + .seconds(6)) == nil)
        let third = try LocalSocket.receive(from: pair.client.number)
        #expect(third == ControlAnswer.status(status(after: 6)).line)
    }

    @Test func aFollowerThatHasNotReadInTimeIsLetGoAndAnotherIsNot() throws {
        let pair = try Pair()
        let follower = pair.connection
        follower.become(.following)
        follower.change(to: status(after: 1))
        _ = follower.tellChange(now: .now + .seconds(1))
        #expect(follower.deadline != nil)
        _ = try LocalSocket.receive(from: pair.client.number)
        follower.miss()
        #expect(!follower.isOver && follower.deadline == nil)
        follower.change(to: status(after: 2))
        _ = follower.tellChange(now: .now + .seconds(2))
        follower.miss()
        #expect(follower.isOver)
        withExtendedLifetime(pair) {}
    }

    @Test func aWordThatComesTooLateConfirmsNothing() throws {
        let pair = try Pair()
        let (connection, now) = (pair.connection, ContinuousClock.now)
        connection.askToConfirm(ControlRequest(.start))
        #expect(connection.confirmed(at: now + .seconds(6)) == nil)
        connection.askToConfirm(ControlRequest(.start))
        #expect(connection.confirmed(at: now) == ControlRequest(.start))
        withExtendedLifetime(pair) {}
    }

    @Test func whoAsksIsServedBesideMoreFollowersThanThereIsRoomFor() async throws {
        let folder = try TemporaryFolder()
        let place = try SocketPlace(user: geteuid()) {
            $0 == SocketPlace.variable ? folder.path("control") : nil
        }
        guard let owner = try SocketOwner.claim(place) else {
            return #expect(Bool(false), "another process has the socket")
        }
        defer { owner.remove() }
        let handler = Answering()
        let server = try WorkerLoop(name: "control") { ControlWorker(owner, handler) }
        handler.server.withLock { $0 = server }
        defer {
            server.shutDown()
            handler.server.withLock { $0 = nil }
        }
        var followers: [RawControlClient] = []
        for _ in 0..<300 {
            let follower = try RawControlClient(place.path, "follow")
            // Those that read are not let go for that, and give way all the same.
            #expect(try await follower.next().contains(#""kind":"status""#))
            followers.append(follower)
        }
        for command in ["start", "stop", "status"] {
            let client = try RawControlClient(place.path, command)
            #expect(try await client.rest().contains("served"))
        }
        withExtendedLifetime(followers) {}
    }

    @Test func withoutDescriptorsTheDaemonSaysSoAndGoesOn() async throws {
        let bench = try ControlBench(.hearing("again"))
        let daemon = try bench.bench.startShell(
            #"ulimit -n 48; exec "$0" daemon -c recording.min=0"#, [])
        #expect(await bench.isAnswered())
        let folder = "/proc/\(daemon.processIdentifier)/fd"
        // Only root may look there: the daemon forbids dumps.
        let open = { @Sendable in try? Folder.make(at: folder).names() }
        #expect(try await bench.run("status").status == .exited(0))
        let before = open()?.count
        var followers = try (0..<60).map { _ in try bench.ask("follow") }
        #expect(
            await daemon.wait(for: "no descriptor for a client: Too many open files", in: .error))
        let refused = try await bench.run("start")
        #expect(refused.status == .exited(74))
        #expect(refused.errorText.contains("no take can begin"))
        #expect(refused.errorText.contains("hint: raise the limit with: ulimit -n"))
        withExtendedLifetime(followers) {}
        followers = []
        // The daemon lets the waiting clients in and closes them; a take has room then.
        for _ in 0..<2 {
            #expect(try await bench.run("status").status == .exited(0))
        }
        #expect(await comesTrue { open()?.count ?? 0 <= before ?? 0 })
        #expect(try await bench.dictate().outputText == "again\n")
        try await daemon.terminate()
    }
}
