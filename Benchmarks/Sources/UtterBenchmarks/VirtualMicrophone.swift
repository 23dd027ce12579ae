// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The tests' virtual sound card, seen by the programs that are measured.
final class VirtualMicrophone {
    /// What a card offers.
    enum Card: String, CaseIterable {
        /// 16 kHz mono, opened directly.
        case direct
        /// 48 kHz stereo only, opened directly: the program converts.
        case converted
        /// 48 kHz stereo only, through ALSA's `plug`.
        case plug48
        /// 16 kHz stereo only, through ALSA's `plug`.
        case plug16

        fileprivate var rates: String {
            self == .direct || self == .plug16 ? "16000" : "48000"
        }
        fileprivate var channels: String { self == .direct ? "1" : "2" }
        /// The ALSA name.
        var device: String {
            self == .plug16 || self == .plug48 ? "plug:uttermic" : "uttermic"
        }
        /// Whether a program that converts nothing itself can record from it at 16 kHz mono.
        var isPlain: Bool { self != .converted }
    }

    /// The card.
    let card: Card
    private let folder: String
    private let state: Int32

    /// Plugs a card in; compiles its driver when needed.
    ///
    /// - Throws: `BenchmarkError` when there is no C compiler.
    init(_ card: Card, in workplace: Workplace) throws(BenchmarkError) {
        self.card = card
        folder = "\(workplace.folder)/card-\(card)-\(monotonicTime())"
        mkdir(folder, 0o700)
        let library = "\(workplace.folder)/uttermic.so"
        try workplace.compile(
            "Tests/VirtualMicrophone/pcm_uttermic.c", to: library,
            ["-shared", "-fPIC", "-DPIC", "-lasound"])
        let properties = """
            rates \(card.rates)
            channels \(card.channels)
            formats S16_LE
            periods 2 1024
            period_bytes 64 65536
            buffer_bytes 256 4000000

            """
        let configuration = """
            pcm_type.uttermic { lib "\(library)" }
            pcm.uttermic { type uttermic dir "\(folder)" }
            pcm.plug { @args [ SLAVE ] @args.SLAVE { type string } type plug slave.pcm $SLAVE }
            """
        for (name, text) in [("card", properties), ("asound.conf", configuration)] {
            guard let file = fopen("\(folder)/\(name)", "w") else {
                throw BenchmarkError("cannot write \(folder)/\(name)")
            }
            fputs(text, file)
            fclose(file)
        }
        state = open("\(folder)/state", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard ftruncate(state, 512) == 0 else { throw BenchmarkError("cannot write \(folder)") }
    }

    deinit { close(state) }

    /// What a child needs in its environment.
    var environment: [String: String] { ["ALSA_CONFIG_PATH": "\(folder)/asound.conf"] }

    /// When frame 0 began, by the monotonic clock in ns; 0 before the card was started.
    var firstFrameAt: Int64 { Int64(word(2)) }
    /// Overruns that stopped the card, and frames that were read too late.
    var losses: Int { word(9) + word(11) }

    /// Its account; the words are listed in the driver's source.
    private func word(_ index: Int) -> Int {
        var value = 0
        pread(state, &value, 8, off_t(index * 8))
        return value
    }

    /// What the card says at a frame since its first start.
    static func sample(at frame: Int) -> Int16 {
        var mixed = UInt64(frame + 1) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 32
        mixed = mixed &* 0xBF58_476D_1CE4_E5B9
        return Int16(bitPattern: UInt16(mixed >> 48))
    }
}
