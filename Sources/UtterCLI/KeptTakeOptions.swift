// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UtterTerminal

/// How takes that have been recorded already are sent; for `retry` and `flush`.
struct KeptTakeOptions: ParsableArguments {
    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @Flag(help: "Keep the audio after its transcript was printed.")
    var keepAudio = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    /// Known, so that whoever gives it hears what becomes of the form.
    @Option(help: .hidden)
    var format: String?

    func validate() throws {
        guard format == nil else {
            throw ValidationError(
                "--format is for new takes; a kept one travels in the form it was recorded in.")
        }
    }
}
