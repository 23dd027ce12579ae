// SPDX-License-Identifier: Apache-2.0

internal import CALSA
package import Capture
internal import LinuxPlatform
internal import Synchronization

package struct DeviceAbility: Sendable, Equatable {
    package let formats: [String]
    /// In Hz, of the usual rates.
    package let rates: [Int]
    package let channels: ClosedRange<Int>

    package init(formats: [String], rates: [Int], channels: ClosedRange<Int>) {
        (self.formats, self.rates, self.channels) = (formats, rates, channels)
    }
}

extension DeviceAbility {
    /// For a device to answer.
    private static let patience = Duration.seconds(2)

    private static let usualRates: [UInt32] = [
        8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000,
    ]

    /// Opens devices one by one, without waiting for busy ones, and closes them.
    ///
    /// - Returns: what each offers, or why it cannot be opened; nil for one that does not answer,
    ///   and for those behind it.
    package static func of(
        _ names: [String]
    ) -> [Result<DeviceAbility, CaptureError>?] {
        let shared = Answers()
        do throws(SystemError) {
            let told = try Wakeup()
            // Nothing joins it: a device that never answers must not keep a program from ending.
            _ = try NamedThread(name: "devices") {
                for name in names {
                    let answer = Result { () throws(CaptureError) in try DeviceAbility(of: name) }
                    shared.list.withLock { $0.append(answer) }
                    told.signal()
                }
            }
            while shared.list.withLock({ $0.count }) < names.count,
                WorkerPause.until(.now + patience).wait(for: told.descriptor)
            { told.drain() }
        } catch {
            // Without a thread nothing is known of them.
        }
        let known = shared.list.withLock { $0 }
        return known.map { $0 } + Array(repeating: nil, count: names.count - known.count)
    }

    private init(of name: String) throws(CaptureError) {
        utter_alsa_listen()
        do throws(ALSAError) {
            let handle = try ALSAHandle(opening: name)
            let parameters = try HardwareParameters(of: handle)
            parameters.refuseRateConversion()
            formats = parameters.offeredFormats
            rates = Self.usualRates.filter { parameters.offers(rate: $0) }.map(Int.init)
            channels = try parameters.channels()
        } catch {
            throw error.opening(name)
        }
    }

    private final class Answers: Sendable {
        let list = Mutex<[Result<DeviceAbility, CaptureError>]>([])
    }
}
