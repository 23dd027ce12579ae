// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import AudioDevices
internal import Capture
internal import LinuxPlatform
internal import Synchronization
package import Utter

/// Plays one take on a thread of its own, obeys signals, and shows how far it has come.
package final class TakePlayback: Sendable {
    /// A terminal shows the position this often at most.
    private static let redrawInterval = Duration.milliseconds(100)

    private let device: String
    private let showsPosition: Bool
    private let stop: Wakeup
    private let farewell = Mutex<ExitStatus?>(nil)
    private let thread = Mutex<NamedThread?>(nil)

    /// Begins to obey signals; to be made once in a program.
    package init(on device: String, isQuiet: Bool) throws(CommandFailure) {
        self.device = device
        showsPosition = StandardError.isTerminal && !isQuiet
        let signals: Signals
        do throws(SystemError) {
            stop = try Wakeup()
            signals = try Signals(readingPipe: false)
        } catch {
            throw CommandFailure(error)
        }
        signals.handle { [self] request in
            // Playing ends at once, whatever asks for it.
            farewell.withLock { if $0 == nil { $0 = request.status } }
            stop.signal()
        }
    }

    /// Plays a take to its end, or until a signal.
    ///
    /// - Returns: how the process should exit.
    package func play(
        _ take: KeptTake, of spool: Spool
    ) async throws(CommandFailure) -> ExitStatus {
        let result = await withCheckedContinuation {
            (heard: CheckedContinuation<Result<Void, CommandFailure>, Never>) in
            do throws(SystemError) {
                let started = try NamedThread(name: "play") { [self] in
                    heard.resume(
                        returning: Result { () throws(CommandFailure) in
                            try run(take, of: spool)
                        })
                }
                thread.withLock { $0 = started }
            } catch {
                heard.resume(returning: .failure(CommandFailure(error)))
            }
        }
        thread.withLock { $0 }?.join()
        if showsPosition { StandardError.write(LiveText.erasure()) }
        try result.get()
        return farewell.withLock { $0 } ?? .textPrinted
    }

    /// On the thread `play`; what comes before a damaged place is heard all the same.
    private func run(_ take: KeptTake, of spool: Spool) throws(CommandFailure) {
        var source = try ofTakes { () throws(TakeStoreError) in try spool.samples(of: take) }
        if let report = source.damageReport { StandardError.line("warning: not whole: \(report)") }
        var damage: CommandFailure?
        var hasBegun = false
        do throws(PlaybackError) {
            var loudspeaker = try Loudspeaker(opening: device)
            let total = StatusLine.clock(take.length ?? .zero)
            var nextRedraw = ContinuousClock.now
            var samples: [Int16] = []
            while damage == nil {
                do throws(TakeSamples.Failure) {
                    guard try source.next(into: &samples) else { break }
                } catch {
                    damage = CommandFailure(error)
                }
                hasBegun = true
                guard try loudspeaker.play(samples.span, unless: stop) else { return }
                guard showsPosition, ContinuousClock.now >= nextRedraw else { continue }
                nextRedraw = .now + Self.redrawInterval
                let position = StatusLine.clock(.milliseconds(loudspeaker.heardFrames / 16))
                StandardError.write(LiveText.drawing("play \(position) / \(total)"))
            }
            _ = try loudspeaker.drain(unless: stop)
        } catch {
            throw CommandFailure(error)
        }
        if let damage { throw damage }
        guard hasBegun else {
            throw CommandFailure(
                "take \(take.id.text) has no sound in it", status: .unusableAudio)
        }
    }
}
