// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A microphone that ALSA opens like any other and that no hardware stands behind.
///
/// The plug-in `Tests/VirtualMicrophone/pcm_uttermic.c` is its driver: a card with a real-time
/// clock whose every frame can be told from every other. Use `deviceName` in this process, or give
/// `environment` to a child process, where it is called "uttermic" and is also the default.
public final class VirtualMicrophone: Sendable {
    private let folder: String
    private let state: Int32

    /// Commands, by their word in the file `state`.
    private enum Command: Int {
        case busy = 32
        case denied, unplug, muteClock, suspend, position, stuck, block, misread, fail
    }

    /// How a card goes away.
    public enum Unplugging: UInt64, Sendable {
        /// At once, and with it what its ring holds, as a USB card does.
        case withRing = 1
        /// It captures nothing more, and is gone when its ring has been read.
        case afterRing = 2
    }

    /// What a driver does not return from.
    public enum BlockedCall: UInt64, Sendable {
        case preparing = 1
        case opening = 2
        case closing = 4
    }

    /// Whether a suspended card can be woken, or must be prepared anew.
    public enum Suspending: UInt64, Sendable {
        case resumable = 1
        case forGood = 2
    }

    /// Plugs in a card.
    ///
    /// - Throws: `VirtualMicrophoneError` when the driver cannot be compiled, with the reason.
    public init(_ card: VirtualCard = VirtualCard()) throws {
        folder = try VirtualMicrophoneDriver.shared.get().makeFolder()
        try writeFile("\(folder)/card", card.lines)
        try writeFile(
            "\(folder)/asound.conf",
            VirtualMicrophoneDriver.shared.get().configuration(
                defaultFolder: folder))
        state = open("\(folder)/state", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard state >= 0, ftruncate(state, 64 * 8) == 0 else {
            throw VirtualMicrophoneError("cannot write \(folder)/state")
        }
    }

    deinit {
        close(state)
        for name in ["card", "asound.conf", "state"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    /// Its ALSA name in this process; "plug:" may be put before it.
    public var deviceName: String { "uttermic:\(folder)" }

    /// What a child process needs in its environment to have it, as "uttermic" and as "default".
    public var environment: [String: String] { ["ALSA_CONFIG_PATH": "\(folder)/asound.conf"] }

    /// Makes the names of virtual microphones known to ALSA in this process, and hides all others.
    ///
    /// Done by `init` too; needed only by tests of devices that do not exist.
    public static func prepare() throws { _ = try VirtualMicrophoneDriver.shared.get() }

    /// What a card with numbered frames says at a frame since its first start.
    public static func sample(at frame: Int, channel: Int = 0) -> Int16 {
        var mixed =
            UInt64(frame + 1) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(channel) &* 0xD1B5_4A32_D192_ED03
        mixed ^= mixed >> 32
        mixed = mixed &* 0xBF58_476D_1CE4_E5B9
        return Int16(bitPattern: UInt16(mixed >> 48))
    }

    /// What the card says of itself.
    public var account: VirtualCardAccount {
        var words = [UInt64](repeating: 0, count: 64)
        _ = words.withUnsafeMutableBytes { pread(state, $0.baseAddress, $0.count, 0) }
        return VirtualCardAccount(words: words)
    }

    /// Takes the card away, or brings it back with nil.
    public func unplug(_ way: Unplugging? = .withRing) { command(.unplug, way?.rawValue ?? 0) }

    /// Makes another program hold the card.
    public func setBusy(_ isBusy: Bool = true) { command(.busy, isBusy ? 1 : 0) }

    /// Forbids opening the card.
    public func setDenied(_ isDenied: Bool = true) { command(.denied, isDenied ? 1 : 0) }

    /// Stops the card's clock: it delivers nothing and says nothing.
    public func setHanging(_ isHanging: Bool = true) { command(.muteClock, isHanging ? 1 : 0) }

    /// Stops the card as `setHanging` does, until it is started anew.
    public func setStuck() { command(.stuck, 1) }

    /// Makes the driver not return from what is asked of it, or return at last with nil.
    public func setBlocking(_ call: BlockedCall? = .preparing) {
        command(.block, call?.rawValue ?? 0)
    }

    /// Makes the card fail with an error number instead of delivering frames, though it can be
    /// prepared and started anew; if it `hidesCause`, ALSA takes the failure for an overrun.
    public func setFailing(_ code: Int32, hidesCause: Bool = false) {
        command(.fail, UInt64(code) + (hidesCause ? 4_096 : 0))
    }

    /// Makes the driver refuse every read, as if there were nothing.
    public func setRefusing() { command(.misread, 1) }

    /// Makes the driver say that each read gave twice as much as it was asked for.
    public func setBoasting() { command(.misread, 2) }

    /// Takes the card's clock away: it has captured so many frames, and captures no more by itself.
    public func setPosition(_ frames: Int) { command(.position, UInt64(frames + 1)) }

    /// Suspends the card, as closing the lid does.
    public func suspend(_ way: Suspending) { command(.suspend, way.rawValue) }

    private func command(_ command: Command, _ value: UInt64) {
        var value = value
        pwrite(state, &value, 8, off_t(command.rawValue * 8))
    }
}

/// Why there is no virtual microphone.
public struct VirtualMicrophoneError: Error, CustomStringConvertible {
    /// What is missing.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Writes a small text file.
func writeFile(_ path: String, _ text: String) throws(VirtualMicrophoneError) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw VirtualMicrophoneError("cannot write \(path)") }
    defer { close(file) }
    guard write(file, text, text.utf8.count) == text.utf8.count else {
        throw VirtualMicrophoneError("cannot write \(path)")
    }
}
