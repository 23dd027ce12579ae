// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A microphone that ALSA opens like any other and that no hardware stands behind.
///
/// The plug-in `Tests/VirtualMicrophone/pcm_uttermic.c` is its driver: a card with a real-time
/// clock whose every frame can be told from every other. Use `deviceName` in this process, or give
/// `environment` to a child process, where it is called "uttermic" and is also the default.
package final class VirtualMicrophone: Sendable {
    private let folder: TemporaryFolder
    private let state: Int32

    /// Commands, by their word in the file `state`.
    private enum Command: Int {
        case busy = 32
        case denied, unplug, muteClock, suspend, position, stuck, block, misread, fail
    }

    /// How a card goes away.
    package enum Unplugging: UInt64, Sendable {
        /// At once, and with it what its ring holds, as a USB card does.
        case withRing = 1
        /// It captures nothing more, and is gone when its ring has been read.
        case afterRing = 2
    }

    /// What a driver does not return from.
    package enum BlockedCall: UInt64, Sendable {
        case preparing = 1
        case opening = 2
        case closing = 4
    }

    /// Whether a suspended card can be woken, or must be prepared anew.
    package enum Suspending: UInt64, Sendable {
        case resumable = 1
        case forGood = 2
    }

    /// Plugs in a card; throws the reason when the driver cannot be compiled.
    package init(_ card: VirtualCard = VirtualCard()) throws {
        let driver = try VirtualMicrophoneDriver.shared.get()
        folder = try TemporaryFolder()
        try folder.write(Array(card.lines.utf8), to: "card")
        let configuration = driver.configuration(defaultFolder: folder.path)
        try folder.write(Array(configuration.utf8), to: "asound.conf")
        state = open(folder.path("state"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard state >= 0, ftruncate(state, 64 * 8) == 0 else {
            throw ForeignTool.Failure(description: "cannot write \(folder.path("state"))")
        }
    }

    deinit { close(state) }

    /// Its ALSA name in this process; "plug:" may be put before it.
    package var deviceName: String { "uttermic:\(folder.path)" }

    /// What a child process needs in its environment to have it, as "uttermic" and as "default".
    package var environment: [String: String] { ["ALSA_CONFIG_PATH": folder.path("asound.conf")] }

    /// Makes the names of virtual microphones known to ALSA in this process, and hides all others.
    ///
    /// Done by `init` too; needed only by tests of devices that do not exist.
    package static func prepare() throws { _ = try VirtualMicrophoneDriver.shared.get() }

    /// What a card with numbered frames says at a frame since its first start.
    package static func sample(at frame: Int, channel: Int = 0) -> Int16 {
        var mixed =
            UInt64(frame + 1) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(channel) &* 0xD1B5_4A32_D192_ED03
        mixed ^= mixed >> 32
        mixed = mixed &* 0xBF58_476D_1CE4_E5B9
        return Int16(bitPattern: UInt16(mixed >> 48))
    }

    /// The bytes that a card with numbered frames gives first.
    package static func pcm(_ frames: Int) -> [UInt8] {
        WAVBytes.pcm((0..<frames).map { sample(at: $0) })
    }

    package var account: VirtualCardAccount {
        var words = [UInt64](repeating: 0, count: 64)
        _ = words.withUnsafeMutableBytes { pread(state, $0.baseAddress, $0.count, 0) }
        return VirtualCardAccount(words: words)
    }

    /// Takes the card away, or brings it back with nil.
    package func unplug(_ way: Unplugging? = .withRing) { command(.unplug, way?.rawValue ?? 0) }

    package func setBusy(_ isBusy: Bool = true) { command(.busy, isBusy ? 1 : 0) }

    package func setDenied(_ isDenied: Bool = true) { command(.denied, isDenied ? 1 : 0) }

    /// Stops the card's clock: it delivers nothing and says nothing.
    package func setHanging(_ isHanging: Bool = true) { command(.muteClock, isHanging ? 1 : 0) }

    /// Stops the card as `setHanging` does, until it is started anew.
    package func setStuck() { command(.stuck, 1) }

    /// Makes the driver not return from what is asked of it, or return at last with nil.
    package func setBlocking(_ call: BlockedCall? = .preparing) {
        command(.block, call?.rawValue ?? 0)
    }

    /// Makes the card fail with an error number instead of delivering frames, though it can be
    /// prepared and started anew; if it `hidesCause`, ALSA takes the failure for an overrun.
    package func setFailing(_ code: Int32, hidesCause: Bool = false) {
        command(.fail, UInt64(code) + (hidesCause ? 4_096 : 0))
    }

    /// Makes the driver refuse every read, as if there were nothing.
    package func setRefusing() { command(.misread, 1) }

    /// Makes the driver say that each read gave twice as much as it was asked for.
    package func setBoasting() { command(.misread, 2) }

    /// Takes the card's clock away: it has captured so many frames, and captures no more by itself.
    package func setPosition(_ frames: Int) { command(.position, UInt64(frames + 1)) }

    /// Suspends the card, as closing the lid does.
    package func suspend(_ way: Suspending) { command(.suspend, way.rawValue) }

    private func command(_ command: Command, _ value: UInt64) {
        var value = value
        pwrite(state, &value, 8, off_t(command.rawValue * 8))
    }
}
