// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Utter

/// How fast a take is caught up on: `4x`, or bytes a second such as `64000`, `64k` or `1M`.
struct CatchUpRateArgument: ExpressibleByArgument {
    let rate: CatchUpRate

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), number.isFinite, number > 0 else { return nil }
        let unit = argument.dropFirst(digits.count)
        if unit == "x" {
            // A voice that is sent more slowly than it speaks never arrives.
            guard (1.1...10_000).contains(number) else { return nil }
            rate = .times(number)
            return
        }
        guard let factor = ["": 1.0, "k": 1_000, "M": 1_000_000][String(unit)],
            (1...1e12).contains(number * factor)
        else { return nil }
        rate = .bytes(perSecond: Int(number * factor))
    }
}
