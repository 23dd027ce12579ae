// SPDX-License-Identifier: Apache-2.0

/// Where the name of the take stands in what a profile sends: the same in each attempt, so that a
/// service can tell, or a person can see, that two requests are about one recording.
package enum TakeMark {
    static let text = "{take}"

    /// The bytes with the name in place of its marks.
    package static func filled(_ bytes: [UInt8], by id: String) -> [UInt8] {
        bytes.replacing(Array(text.utf8), with: Array(id.utf8))
    }

    package static func filled(_ fields: [HeaderField], by id: String) -> [HeaderField] {
        fields.map { field in
            HeaderField(
                checkedName: field.name, value: field.value.replacing(text, with: id))
        }
    }
}
