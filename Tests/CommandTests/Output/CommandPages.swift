// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The manual pages of the commands, made as the installation makes them.
struct CommandPages {
    let folder: TemporaryFolder

    /// The pages that all tests read, since it takes eight programs to make them.
    static let all = Task { try await CommandPages() }

    private init() async throws {
        folder = try TemporaryFolder.forProcess()
        let tool = try #require(BuiltProducts.path(of: "utter-manual"))
        for name in ["utter", "utter-endpoint", "utter-keys", "utter-work"] {
            let program = try #require(BuiltProducts.path(of: name))
            let dump = try await CommandRun.run(program, ["--experimental-dump-help"])
            let made = try await CommandRun.run(
                tool, [folder.path, "November 22, 2026"], input: .bytes(dump.output))
            try #require(made.status == .exited(0), "\(made.errorText)")
        }
    }

    func page(_ command: String) throws -> String {
        String(decoding: try folder.read("utter-\(command).1"), as: UTF8.self)
    }

    /// The options that the page of a command explains, each as often as it does.
    func options(of command: String) throws -> [String] {
        // In mdoc(7) a long option is "Fl -name".
        try page(command).split(separator: "\n").filter { $0.hasPrefix(".It Fl ") }
            .flatMap { $0.matches(of: /Fl -([a-z][a-z-]+)/) }.map { "--\($0.1)" }
    }

    /// The options that the pages explain.
    func allOptions() throws -> Set<String> {
        try folder.names().reduce(into: []) { options, name in
            let command = name.dropFirst("utter-".count).dropLast(".1".count)
            options.formUnion(try self.options(of: String(command)))
        }
    }
}
