// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A number of bytes on the command line: `4G`, `500M`, `64k`, or a plain number.
///
/// The units are powers of 1,024.
struct SizeArgument: ExpressibleByArgument {
    let byteCount: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let shifts = ["": 0, "k": 10, "K": 10, "M": 20, "G": 30, "T": 40]
        guard let number = Int(digits), number < 1 << 20 || digits.count == argument.count,
            let shift = shifts[String(argument.dropFirst(digits.count))], number < 1 << 60
        else { return nil }
        byteCount = number << shift
    }
}
