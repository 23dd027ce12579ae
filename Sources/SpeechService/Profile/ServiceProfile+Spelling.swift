// SPDX-License-Identifier: Apache-2.0

internal import Settings

extension ServiceProfile {
    /// Demands that what has no words in it can be sent as it is: what has some is looked at when
    /// they are said.
    func checkSpelling(urlPlace: SettingsPlace?) throws(SettingsError) {
        if url.words.isEmpty {
            try placed("'url'", at: urlPlace) { () throws(ServiceError) in
                _ = try ServiceURL(url.text)
            }
        }
        for field in headers + formats.flatMap(\.headers) {
            let value = field.value.words.isEmpty && !field.isJSON ? field.value.text : "value"
            try placed("'headers'", at: field.place) { () throws(ServiceError) in
                _ = try HeaderField(name: field.name, value: value)
            }
        }
    }

    private func placed(
        _ name: String, at place: SettingsPlace?, _ read: () throws(ServiceError) -> Void
    ) throws(SettingsError) {
        do throws(ServiceError) {
            try read()
        } catch {
            throw SettingsError("\(name): \(error.description)", at: place)
        }
    }
}
