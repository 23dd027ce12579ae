// SPDX-License-Identifier: Apache-2.0

package import Capture
internal import Glibc

extension DeviceHost {
    /// The name of the device that a text stands for: a name, or a part of one name or description.
    ///
    /// A number alone names none: the order of devices changes when one is plugged in. Reads ALSA's
    /// configuration only for what may be a part of a name.
    ///
    /// - Throws: `CaptureError.deviceUnclear` with the candidates, `deviceIsMonitor`, or that of the
    ///   list.
    package static func name(
        meantBy text: String, allowsMonitor: Bool = false
    ) throws(CaptureError) -> String {
        let isName = text == "default" || text.contains(":")
        let device = try device(meantBy: text, among: isName ? [] : list())
        if !allowsMonitor, device.isMonitor || isMonitorByDefault(device.name) {
            throw .deviceIsMonitor(device: device.name)
        }
        return device.name
    }

    /// The name by which ALSA converts what a device cannot deliver; nil when it is one.
    package static func converting(_ name: String) -> String? {
        name.hasPrefix("plug") ? nil : name.hasPrefix("hw:") ? "plug\(name)" : "plug:\(name)"
    }

    /// A text that fits no device of the list is taken as a name that ALSA may know.
    static func device(
        meantBy text: String, among devices: [CaptureDevice]
    ) throws(CaptureError) -> CaptureDevice {
        if let named = devices.first(where: { $0.name == text }) { return named }
        if !text.isEmpty, text.allSatisfy(\.isNumber) {
            throw .deviceUnclear(device: text, candidates: devices.map(\.name))
        }
        let unknown = CaptureDevice(name: text, description: "")
        guard !text.isEmpty, !text.contains(":") else { return unknown }
        let matches = devices.filter { $0.mentions(text) }
        guard let first = matches.first else { return unknown }
        let isOneCard = first.card != nil && matches.allSatisfy { $0.card == first.card }
        guard matches.count == 1 || isOneCard else {
            throw .deviceUnclear(device: text, candidates: matches.map(\.name))
        }
        // A card has many names: one that shares it with other programs is preferred.
        return ["sysdefault:", "plughw:"].lazy
            .compactMap { form in matches.first { $0.name.hasPrefix(form) } }.first ?? first
    }

    /// Whether the sound server's default source is a monitor.
    private static func isMonitorByDefault(_ name: String) -> Bool {
        guard ["default", "pulse"].contains(name), let source = unsafe getenv("PULSE_SOURCE") else {
            return false
        }
        return unsafe String(cString: source).hasSuffix(".monitor")
    }
}

extension CaptureDevice {
    package var isMonitor: Bool {
        name.contains(".monitor") || description.lowercased().contains("monitor of ")
    }

    /// Ignores case.
    fileprivate func mentions(_ text: String) -> Bool {
        let text = text.lowercased()
        return [name, description, card ?? ""].contains { $0.lowercased().contains(text) }
    }
}
