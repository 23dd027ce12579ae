// SPDX-License-Identifier: Apache-2.0

package import Settings

extension AnswerRule {
    /// Reads the table `answer` of a service's description.
    ///
    /// - Throws: `SettingsError` where it is wrong.
    package init(section reader: inout SettingsReader) throws(SettingsError) {
        let place = reader.place("text")
        guard let path = try reader.strings("text")?.first else {
            self = .automatic
            return
        }
        do throws(ServiceError) {
            self = .json(path: try JSONPath(path))
        } catch {
            throw SettingsError(error.description, at: place)
        }
    }
}
