// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The executables of the same build as the running tests: debug, release or with a sanitizer.
package enum BuiltProducts {
    /// The path of an executable product, such as "utter".
    ///
    /// The test bundle is itself a program and lies in the folder of the products.
    /// - Returns: nil when the build has no such program.
    package static func path(of product: String) -> String? {
        guard let bundle = runningProgram else { return nil }
        var folder = bundle.split(separator: "/").dropLast()
        while !folder.isEmpty {
            let candidate = "/" + folder.joined(separator: "/") + "/" + product
            if isProgram(candidate) { return candidate }
            // A runner that lies deeper is searched for no further than the build folder.
            if folder.last?.hasPrefix(".build") == true { return nil }
            folder.removeLast()
        }
        return nil
    }

    private static var runningProgram: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return access(path, X_OK) == 0
    }
}
