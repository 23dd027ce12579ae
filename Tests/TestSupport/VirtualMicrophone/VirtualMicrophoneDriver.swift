// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The ALSA plug-in behind all virtual microphones of this process, compiled once.
final class VirtualMicrophoneDriver: Sendable {
    /// Compiles the plug-in and tells ALSA where it is.
    ///
    /// `setenv` here is safe although other threads run: it is called once, before any test of this
    /// process has asked ALSA for anything, and the first change of an environment copies it.
    static let shared = Result { () throws(VirtualMicrophoneError) in
        let driver = try VirtualMicrophoneDriver()
        try writeFile("\(driver.folder)/asound.conf", driver.configuration(defaultFolder: nil))
        setenv("ALSA_CONFIG_PATH", "\(driver.folder)/asound.conf", 1)
        return driver
    }

    private let folder: String
    private let count = Mutex(0)

    /// What `atexit` removes.
    private static let leftover = Mutex<String?>(nil)

    private init() throws(VirtualMicrophoneError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/utter-microphone-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw VirtualMicrophoneError("cannot make a folder in \(parent)")
        }
        folder = String(cString: made)
        Self.leftover.withLock { [folder] in $0 = folder }
        atexit { VirtualMicrophoneDriver.removeLeftover() }
        try Self.compile(into: "\(folder)/uttermic.so")
    }

    /// Makes a folder for one card.
    func makeFolder() throws(VirtualMicrophoneError) -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let made = "\(folder)/\(number)"
        guard mkdir(made, 0o700) == 0 else {
            throw VirtualMicrophoneError("cannot make \(made)")
        }
        return made
    }

    /// An ALSA configuration with the virtual microphones and nothing else.
    ///
    /// - Parameter defaultFolder: the card that "uttermic" and "default" mean, if any.
    /// - Returns: the text of an asound.conf.
    func configuration(defaultFolder: String?) -> String {
        let byDefault = """
            pcm.default {
                type plug
                slave.pcm "uttermic"
                hint { show on description "Default\nthe virtual microphone" }
            }
            """
        return """
            pcm_type.uttermic { lib "\(folder)/uttermic.so" }
            pcm.uttermic {
                @args [ DIR ]
                @args.DIR { type string default "\(defaultFolder ?? "")" }
                type uttermic
                dir $DIR
                hint { show on description "Virtual microphone" }
            }
            pcm.plug {
                @args [ SLAVE ]
                @args.SLAVE { type string }
                type plug
                slave.pcm $SLAVE
            }
            pcm.null { type null hint { show on description "Nothing" } }
            namehint.pcm [
                "headset:CARD=Nowhere|Headset\nof nobody|IOIDInput"
                "speakers|Loud|IOIDOutput"
            ]
            \(defaultFolder == nil ? "" : byDefault)
            """
    }

    private static func compile(into library: String) throws(VirtualMicrophoneError) {
        let source = sourcePath()
        var reasons: [String] = []
        for compiler in ["clang", "cc", "gcc"] {
            do {
                try ForeignTool(compiler).run([
                    "-shared", "-fPIC", "-DPIC", "-D_GNU_SOURCE", "-O1", "-o", library, source,
                    "-lasound",
                ])
                return
            } catch {
                reasons.append("\(error)")
            }
        }
        throw VirtualMicrophoneError("cannot compile \(source): \(reasons)")
    }

    /// Tests/VirtualMicrophone/pcm_uttermic.c, from Tests/TestSupport/VirtualMicrophone/.
    private static func sourcePath(of file: String = #filePath) -> String {
        let tests = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return tests.joined(separator: "/") + "/VirtualMicrophone/pcm_uttermic.c"
    }

    private static func removeLeftover() {
        guard let folder = leftover.withLock({ $0 }) else { return }
        for name in ["uttermic.so", "asound.conf"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }
}
