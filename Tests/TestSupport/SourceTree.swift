// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The folder of the package that the tests were built from.
package enum SourceTree {
    /// The absolute path of a file or folder of the package, such as "samples/jfk.wav".
    package static func path(_ path: String) -> String { root + "/" + path }

    /// The absolute paths of the files below a folder whose names end so.
    package static func files(below folder: String, endingWith end: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path(folder))
            .filter { $0.hasSuffix(end) }.map { path(folder) + "/" + $0 }
    }

    /// Three levels above this file: Tests, TestSupport, SourceTree.swift.
    private static let root = #filePath.split(separator: "/").dropLast(3)
        .map { "/" + $0 }.joined()
}
