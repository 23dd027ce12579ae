// SPDX-License-Identifier: Apache-2.0

extension SettingsReader {
    /// A length of time in seconds.
    package mutating func seconds(
        _ key: String, upTo limit: Int, allowsZero: Bool = false
    ) throws(SettingsError) -> Duration? {
        let place = place(key)
        guard let number = try number(key) else { return nil }
        guard allowsZero ? number >= 0 : number > 0, number <= Double(limit) else {
            throw SettingsError(
                "'\(path(key))' must be \(allowsZero ? "0 or more" : "above 0") and at most "
                    + "\(limit)", at: place)
        }
        // In whole milliseconds: 2.4 is no binary fraction.
        return .milliseconds(Int((number * 1_000).rounded()))
    }
}
