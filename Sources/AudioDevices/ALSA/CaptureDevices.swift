// SPDX-License-Identifier: Apache-2.0

internal import CALSA
public import Capture
internal import Glibc

/// A device that can be recorded from, or played on.
public struct CaptureDevice: Sendable, Hashable {
    /// The ALSA name, to be passed to `Microphone`.
    public let name: String

    /// The device's description of itself, in one line; empty when it has none.
    public let description: String

    /// The card that the device is bound to; nil: none.
    package private(set) var card: String?

    /// Whether `Microphone` takes it by default.
    package var isDefault: Bool { name == "default" }
}

/// The devices that ALSA's configuration offers.
public enum CaptureDevices {
    package enum Purpose: Sendable {
        case recording
        case playing

        /// ALSA's word for devices of the other direction only.
        fileprivate var opposite: String { self == .recording ? "Output" : "Input" }
    }

    /// Lists the devices to record from, the default first, the others as ALSA has them.
    ///
    /// Opens none of them, so that a listed one may still turn out to be busy. From any thread;
    /// blocks while the configuration is read. The corresponding C function is
    /// `snd_device_name_hint`.
    ///
    /// - Returns: empty when there is no sound card and no sound server.
    /// - Throws: `CaptureError.deviceUnusable` when the configuration cannot be read.
    public static func list() throws(CaptureError) -> [CaptureDevice] { try list(for: .recording) }

    package static func list(for purpose: Purpose) throws(CaptureError) -> [CaptureDevice] {
        utter_alsa_listen()
        var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        do throws(ALSAError) {
            try ALSAError.check(
                "snd_device_name_hint", unsafe snd_device_name_hint(-1, "pcm", &hints))
        } catch {
            throw .deviceUnusable(device: "default", reason: error.fullReason)
        }
        guard let first = unsafe hints else { return [] }
        defer { _ = unsafe snd_device_name_free_hint(first) }
        var devices: [CaptureDevice] = []
        var at = unsafe first
        while let hint = unsafe at.pointee {
            if let device = unsafe device(from: hint, for: purpose) { devices.append(device) }
            unsafe at += 1
        }
        return devices.filter(\.isDefault) + devices.filter { !$0.isDefault }
    }

    static func isListed(_ name: String) -> Bool {
        // A configuration that cannot be read offers none.
        ((try? list()) ?? []).contains { $0.name == name }
    }

    static func cardName(ofIndex index: Int32) -> String? {
        var name: UnsafeMutablePointer<CChar>?
        guard unsafe snd_card_get_name(index, &name) == 0, let name = unsafe name else {
            return nil
        }
        defer { unsafe free(name) }
        return unsafe String(cString: name)
    }

    private static func device(
        from hint: UnsafeMutableRawPointer, for purpose: Purpose
    ) -> CaptureDevice? {
        // A device that is for both directions has no IOID.
        guard unsafe text("IOID", of: hint) != purpose.opposite else { return nil }
        // "null" records silence, and plays nothing; no person means it.
        guard let name = unsafe text("NAME", of: hint), name != "null" else { return nil }
        let lines = unsafe text("DESC", of: hint)?.split(separator: "\n") ?? []
        return CaptureDevice(
            name: name, description: lines.joined(separator: ", "), card: card(in: name))
    }

    private static func text(
        _ key: StaticString, of hint: UnsafeMutableRawPointer
    ) -> String? {
        guard let value = unsafe snd_device_name_get_hint(hint, "\(key)") else { return nil }
        defer { unsafe free(value) }
        return unsafe String(cString: value)
    }

    /// Such as "PCH" in "plughw:CARD=PCH,DEV=0".
    private static func card(in name: String) -> String? {
        guard name.contains("CARD=") else { return nil }
        return cardIndex(in: name).flatMap { cardName(ofIndex: Int32($0)) }
    }

    /// The number of the card that a name is bound to, such as "hw:1,0" or "plughw:CARD=PCH,DEV=0".
    static func cardIndex(in name: String) -> Int? {
        guard let colon = name.lastIndex(of: ":") else { return nil }
        let arguments = name[name.index(after: colon)...].split(separator: ",")
        let named = arguments.first { $0.hasPrefix("CARD=") }?.dropFirst(5)
        guard let id = named ?? arguments.first else { return nil }
        let index = unsafe snd_card_get_index(String(id))
        return index < 0 ? nil : Int(index)
    }
}
