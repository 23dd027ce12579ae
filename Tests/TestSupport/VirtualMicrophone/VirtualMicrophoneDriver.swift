// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The ALSA plug-in behind all virtual microphones of this process, compiled once.
final class VirtualMicrophoneDriver: Sendable {
    /// Compiles the plug-in and tells ALSA where it is.
    ///
    /// `setenv` here is safe although other threads run: it is called once, before any test of this
    /// process has asked ALSA for anything, and the first change of an environment copies it.
    static let shared = Result {
        let driver = try VirtualMicrophoneDriver()
        setenv("ALSA_CONFIG_PATH", "\(driver.folder)/asound.conf", 1)
        return driver
    }

    private let folder: String

    private init() throws {
        let made = try TemporaryFolder.forProcess()
        folder = made.path
        try ForeignTool.compile(
            "VirtualMicrophone/pcm_uttermic.c", into: made.path("uttermic.so"), "-shared", "-fPIC",
            "-DPIC", "-lasound")
        try made.write(Array(configuration(defaultFolder: nil).utf8), to: "asound.conf")
    }

    /// An ALSA configuration with the virtual microphones and nothing else; "uttermic" and "default"
    /// mean the card of this folder, if any.
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
}
