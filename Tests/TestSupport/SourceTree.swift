// SPDX-License-Identifier: Apache-2.0

/// The folder of the package that the tests were built from.
package enum SourceTree {
    /// The absolute path of a file or folder of the package, such as "samples/jfk.wav".
    package static func path(_ path: String) -> String { root + "/" + path }

    /// Three levels above this file: Tests, TestSupport, SourceTree.swift.
    private static let root = #filePath.split(separator: "/").dropLast(3)
        .map { "/" + $0 }.joined()
}
