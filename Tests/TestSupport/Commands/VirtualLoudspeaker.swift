// SPDX-License-Identifier: Apache-2.0

/// A loudspeaker that no hardware stands behind; `Tests/VirtualLoudspeaker/pcm_utterspeaker.c` is
/// its driver.
///
/// A program that has `environment` has it as "default", which converts, and as "speaker", which
/// does not.
package final class VirtualLoudspeaker: Sendable {
    private let folder: TemporaryFolder

    package init() throws {
        folder = try TemporaryFolder()
        try ForeignTool.compile(
            "VirtualLoudspeaker/pcm_utterspeaker.c", into: folder.path("driver.so"), "-shared",
            "-fPIC", "-DPIC", "-lasound")
        try folder.write(Array(configuration.utf8), to: "asound.conf")
    }

    /// What a program needs in its environment to have it.
    package var environment: [String: String] { ["ALSA_CONFIG_PATH": folder.path("asound.conf")] }

    /// What it was given, signed 16-bit little-endian, of all programs so far.
    package var heard: [UInt8] {
        // Nothing was ever played.
        (try? folder.read("heard")) ?? []
    }

    private var configuration: String {
        """
        pcm_type.utterspeaker { lib "\(folder.path("driver.so"))" }
        pcm.speaker { type utterspeaker dir "\(folder.path)" }
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
