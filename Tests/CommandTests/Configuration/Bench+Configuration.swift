// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

extension Bench {
    /// Where the settings are that a run on this bench reads.
    var configurationPath: String { folder.path(".config/utter/config.toml") }

    func makeConfigurationFolder() {
        for path in [folder.path(".config"), folder.path(".config/utter")] { mkdir(path, 0o700) }
    }

    @discardableResult
    func configure(_ text: String) throws -> String {
        try configure(bytes: Array(text.utf8))
    }

    @discardableResult
    func configure(bytes: [UInt8]) throws -> String {
        makeConfigurationFolder()
        return try folder.write(bytes, to: ".config/utter/config.toml")
    }
}
