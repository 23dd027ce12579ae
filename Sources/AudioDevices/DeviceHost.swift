// SPDX-License-Identifier: Apache-2.0

public import Capture
internal import LinuxPlatform
internal import Synchronization

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

/// The sound system of this machine: it lists devices, and makes the source that opens one.
///
/// Commands reach devices through it alone. Today it is ALSA, which has PulseAudio, PipeWire and
/// Bluetooth by its plug-ins. Another one is a folder beside `ALSA/`, and is chosen here.
public enum DeviceHost {
    package enum Purpose: Sendable {
        case recording, playing
    }

    /// The host's name for a person.
    package static let name = "ALSA"

    /// Lists the devices to record from, the default first, the others as the host has them.
    ///
    /// Opens none of them, so that a listed one may still turn out to be busy. From any thread;
    /// blocks while the configuration is read.
    ///
    /// - Returns: empty when there is no sound card and no sound server.
    /// - Throws: `CaptureError.deviceUnusable` when the configuration cannot be read.
    public static func list() throws(CaptureError) -> [CaptureDevice] { try list(for: .recording) }

    package static func list(for purpose: Purpose) throws(CaptureError) -> [CaptureDevice] {
        let devices = try ALSADevices.list(for: purpose)
        return devices.filter(\.isDefault) + devices.filter { !$0.isDefault }
    }

    /// The source that opens a device, and how often it is read; nil is the usual period.
    package static func microphone(_ name: String, period: Duration? = nil) -> Microphone {
        Microphone(device: name, period: period ?? Microphone.usualPeriod)
    }

    /// For a device to answer.
    private static let patience = Duration.seconds(2)

    /// Opens devices one by one, without waiting for busy ones, and closes them.
    ///
    /// - Returns: what each offers, or why it cannot be opened; nil for one that does not answer,
    ///   and for those behind it.
    package static func abilities(
        of devices: [CaptureDevice]
    ) -> [Result<DeviceAbility, CaptureError>?] {
        let shared = Answers()
        do throws(SystemError) {
            let told = try Wakeup()
            // Nothing joins it: a device that never answers must not keep a program from ending.
            _ = try NamedThread(name: "devices") {
                for name in devices.map(\.name) {
                    let answer = Result { () throws(CaptureError) in try DeviceAbility(of: name) }
                    shared.list.withLock { $0.append(answer) }
                    told.signal()
                }
            }
            while shared.list.withLock({ $0.count }) < devices.count,
                WorkerPause.until(.now + patience).wait(for: told.descriptor)
            { told.drain() }
        } catch {
            // Without a thread nothing is known of them.
        }
        let known = shared.list.withLock { $0 }
        return known.map { $0 } + Array(repeating: nil, count: devices.count - known.count)
    }

    private final class Answers: Sendable {
        let list = Mutex<[Result<DeviceAbility, CaptureError>]>([])
    }
}
