// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// What stays on the disk.
package struct KeepOptions: ParsableArguments {
    /// Creates options that have not been parsed yet.
    package init() {}

    @Flag(help: "Keep the audio after its transcript was printed.")
    package var keepAudio = false

    @Flag(help: "Write nothing to the disk; what cannot be delivered is gone.")
    package var noKeep = false

    @Flag(help: "Record nothing unless it can be kept on the disk.")
    package var requireKeep = false

    package mutating func validate() throws {
        if noKeep && (keepAudio || requireKeep) {
            throw ValidationError("--no-keep excludes --keep-audio and --require-keep.")
        }
    }
}

extension KeepOptions {
    /// Takes are kept while they wait for their answer, and no longer.
    package static var standard: KeepOptions {
        var options = KeepOptions()
        (options.keepAudio, options.noKeep, options.requireKeep) = (false, false, false)
        return options
    }
}
