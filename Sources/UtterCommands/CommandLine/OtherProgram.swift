// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import LinuxPlatform
internal import UtterTerminal

/// A program of the package other than the one that runs.
///
/// Commands that need libraries of their own are programs, so that every other start of `utter` is
/// spared these.
package struct OtherProgram {
    /// The recogniser that `utter serve` has when no other one is named or installed.
    package static let ear = OtherProgram(
        name: "utter-ear", otherwise: "; or install another recogniser: utter setup local")
    static let endpoint = OtherProgram(name: "utter-endpoint")
    static let keys = OtherProgram(name: "utter-keys")
    static let work = OtherProgram(name: "utter-work")
    static let utter = OtherProgram(name: "utter")

    let name: String
    /// How a person does without it.
    var otherwise = ""

    /// Where it is: in the folder of a build, from the one or the other program installed, or in `PATH`.
    package func path() throws(CommandFailure) -> String {
        let near = ["", "../libexec/utter/", "../../bin/"]
            .map { "\(Launch.programFolder)/\($0)\(name)" }
        if let path = near.first(where: { unsafe access($0, X_OK) == 0 })
            ?? DesktopTool.path(of: name)
        {
            return path
        }
        let hint = "build it with: swift build --product \(name); or install its package"
        throw CommandFailure(
            "\(name) is missing beside \(Launch.program), and in PATH", hint: hint + otherwise,
            status: .internalError)
    }

    /// Becomes that program; returns only when it cannot, with how to exit.
    func execute(_ arguments: [String]) -> any Error {
        do {
            Self.become(try path(), [name] + arguments)
            throw SystemError.last("execv \(name)")
        } catch {
            return Launch.exit(error)
        }
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
