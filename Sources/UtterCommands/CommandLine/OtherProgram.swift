// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import LinuxPlatform
internal import UtterTerminal

/// A program of the package other than the one that runs.
///
/// Commands that need libraries of their own are programs, so that every other start of `utter` is
/// spared these.
struct OtherProgram {
    static let endpoint = OtherProgram(name: "utter-endpoint")
    static let keys = OtherProgram(name: "utter-keys")
    static let work = OtherProgram(name: "utter-work")
    static let utter = OtherProgram(name: "utter")

    let name: String

    /// Where it may be: in the folder of a build, and from the one or the other program installed.
    var paths: [String] {
        let folder = Launch.programFolder
        return ["\(folder)/", "\(folder)/../libexec/utter/", "\(folder)/../../bin/"]
            .map { $0 + name }
    }

    var missing: CommandFailure {
        CommandFailure(
            "\(name) is missing beside \(Launch.programFolder)/utter",
            hint: "build it with: swift build --product \(name); or install its package",
            status: .internalError)
    }

    /// Becomes that program; returns only when it cannot be found, with how to exit.
    func execute(_ arguments: [String]) -> any Error {
        for path in paths { Self.become(path, [name] + arguments) }
        return Launch.exit(missing)
    }

    /// Becomes the program at a path; returns only when it cannot be started.
    static func become(_ path: String, _ words: [String]) {
        Signals.unblock()
        var pointers = unsafe words.map { unsafe strdup($0.cPath) } + [nil]
        unsafe execv(path.cPath, &pointers)
        unsafe pointers.forEach { unsafe free($0) }
    }
}

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
