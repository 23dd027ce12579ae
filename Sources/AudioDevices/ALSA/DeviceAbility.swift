// SPDX-License-Identifier: Apache-2.0

internal import CALSA
internal import Capture

package struct DeviceAbility: Sendable, Equatable {
    package let formats: [String]
    /// In Hz, of the usual rates.
    package let rates: [Int]
    package let channels: ClosedRange<Int>

    /// That of a device that was not asked.
    package static let unknown = DeviceAbility(formats: [], rates: [], channels: 0...0)
}

extension DeviceAbility {
    private static let usualRates: [UInt32] = [
        8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000,
    ]

    init(of name: String) throws(CaptureError) {
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
}
