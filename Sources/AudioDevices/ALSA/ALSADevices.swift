// SPDX-License-Identifier: Apache-2.0

internal import CALSA
internal import Capture
internal import Glibc

/// The devices that ALSA's configuration offers.
enum ALSADevices {
    /// The corresponding C function is `snd_device_name_hint`.
    static func list(for purpose: DeviceHost.Purpose) throws(CaptureError) -> [CaptureDevice] {
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
        return devices
    }

    static func isListed(_ name: String) -> Bool {
        // A configuration that cannot be read offers none.
        ((try? list(for: .recording)) ?? []).contains { $0.name == name }
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
        from hint: UnsafeMutableRawPointer, for purpose: DeviceHost.Purpose
    ) -> CaptureDevice? {
        // A device that is for both directions has no IOID.
        let opposite = purpose == .recording ? "Output" : "Input"
        guard unsafe text("IOID", of: hint) != opposite else { return nil }
        // "null" records silence, and plays nothing; no person means it.
        guard let name = unsafe text("NAME", of: hint), name != "null" else { return nil }
        let lines = unsafe text("DESC", of: hint)?.split(separator: "\n") ?? []
        return CaptureDevice(
            name: name, description: lines.joined(separator: ", "), card: card(in: name))
    }

    private static func text(_ key: StaticString, of hint: UnsafeMutableRawPointer) -> String? {
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
