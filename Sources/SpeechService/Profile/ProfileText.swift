// SPDX-License-Identifier: Apache-2.0

package struct ProfileText: Sendable, Hashable {
    package var name: String
    package var place: String
    package var text: String

    package init(name: String, place: String? = nil, text: String) {
        self.name = name
        self.place = place ?? name + ".toml"
        self.text = text
    }
}
