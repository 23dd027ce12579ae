// SPDX-License-Identifier: Apache-2.0

/// The hash FNV-1a of 32 bits: the same in every run, for numbers that need not be secret.
enum FNV {
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
