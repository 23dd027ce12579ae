// SPDX-License-Identifier: Apache-2.0

/// Words of commands that a person may copy into a shell.
package enum ShellWord {
    /// The text as one word, in quotes where a shell would read it differently.
    package static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
            default: "+-./:=@_,".utf8.contains(byte)
            }
        }
        guard !isPlain || text.isEmpty else { return text }
        var result = "'"
        for character in text { result += character == "'" ? "'\\''" : String(character) }
        return result + "'"
    }
}
