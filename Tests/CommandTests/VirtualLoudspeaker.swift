// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// A loudspeaker that no hardware stands behind; `Tests/VirtualLoudspeaker/pcm_utterspeaker.c` is
/// its driver.
///
/// A program that has `environment` has it as "default", which converts, and as "speaker", which
/// does not. "file" is a device that writes to a file and takes no time.
final class VirtualLoudspeaker: Sendable {
    private let folder: TemporaryFolder

    /// What a card does from now on.
    enum Trouble: String {
        /// Another program holds it.
        case busy
        /// It has run dry when the first frame was played, once.
        case dry
        /// It is gone.
        case unplug
    }

    /// Connects a loudspeaker of one rate, in Hz.
    init(rate: Int = 16_000) throws {
        folder = try TemporaryFolder()
        try ForeignTool("cc").run([
            "-shared", "-fPIC", "-DPIC", "-D_GNU_SOURCE", "-O1", "-o", folder.path("driver.so"),
            SourceTree.path("Tests/VirtualLoudspeaker/pcm_utterspeaker.c"), "-lasound",
        ])
        try folder.write(Array("\(rate)\n".utf8), to: "rate")
        try folder.write(Array(configuration.utf8), to: "asound.conf")
    }

    /// What a program needs in its environment to have it.
    var environment: [String: String] { ["ALSA_CONFIG_PATH": folder.path("asound.conf")] }

    /// What it was given, signed 16-bit little-endian, of all programs so far.
    var heard: [UInt8] { bytes(of: "heard") }

    /// What the device "file" was given.
    var written: [UInt8] { bytes(of: "written") }

    /// Makes trouble.
    func set(_ trouble: Trouble) throws { try folder.write([], to: trouble.rawValue) }

    /// Whether trouble that happens once has happened.
    func hasHappened(_ trouble: Trouble) -> Bool {
        access(folder.path(trouble.rawValue), F_OK) != 0
    }

    private func bytes(of name: String) -> [UInt8] {
        // Nothing was ever played.
        (try? folder.read(name)) ?? []
    }

    private var configuration: String {
        """
        pcm_type.utterspeaker { lib "\(folder.path("driver.so"))" }
        pcm.speaker { type utterspeaker dir "\(folder.path)" }
        pcm.null { type null }
        pcm.file { type file slave.pcm "null" file "\(folder.path("written"))" format "raw" }
        pcm.default {
            type plug
            slave.pcm "speaker"
            hint { show on description "Default" }
        }
        namehint.pcm [
            "headset:CARD=Nowhere|Headset|IOIDInput"
            "speakers|Loud|IOIDOutput"
        ]
        """
    }
}
