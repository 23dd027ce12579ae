// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import RecognitionEndpoint

enum TestEndpoint {
    /// PocketSphinx of this build, with the demo grammar unless others of its options are given.
    static func recogniser(_ options: [String] = ["-jsgf", Samples.grammar]) -> Recogniser {
        let program = BuiltProducts.path(of: "utter-ear") ?? "utter-ear"
        var recogniser = Recogniser.command(([program] + options).joined(separator: " "))
        // A sanitizer takes more address space than any limit.
        recogniser.memoryLimit = nil
        return recogniser
    }

    /// A recogniser without a model to load, for a little silence, in which there is no line's end:
    /// its texts are empty.
    static let soundless = Recogniser(words: [
        "sh", "-c",
        """
        echo '{"ready":{"name":"test"}}'
        while read -r line; do
            case $line in
                '{"begin"'* | '{"audio"'*) continue ;;
                '{"end"'*) echo '{"final":"","end":true}' ;;
            esac
            echo '{"ready":{"name":"test"}}'
        done
        """,
    ])

    /// Gives an endpoint that recogniser.
    static func withoutSound(_ configuration: inout RecognitionEndpointConfiguration) {
        configuration.recogniser = soundless
    }

    /// Runs an endpoint with the demo grammar while `body` runs.
    static func run<Value>(
        _ change: (inout RecognitionEndpointConfiguration) -> Void = { _ in },
        _ body: (Int, RecognitionEndpoint) async throws -> Value
    ) async throws -> Value {
        var configuration = RecognitionEndpointConfiguration(recogniser: TestEndpoint.recogniser())
        change(&configuration)
        let endpoint = try RecognitionEndpoint(configuration)
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let server = Task {
            defer { ready.finish() }
            try await endpoint.run { ready.yield($0) }
        }
        defer { endpoint.shutdown() }
        guard let port = await ports.first(where: { _ in true }) else {
            try await server.value
            throw RawClient.Failure.connectionRefused
        }
        let value = try await body(port, endpoint)
        endpoint.shutdown()
        try await server.value
        return value
    }

    /// Runs one while `body`, on a thread of its own, speaks with it as one client.
    static func serve<Value: Sendable>(
        _ change: (inout RecognitionEndpointConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RawClient) throws -> Value
    ) async throws -> Value {
        try await run(change) { port, _ in
            try await onThread { try body(RawClient(port: port)) }
        }
    }

    /// Runs one while `body`, on a thread of its own, speaks with it as a client of its own for each
    /// of these, one after the other.
    static func serve<Element: Sendable>(
        each elements: [Element],
        _ change: (inout RecognitionEndpointConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RawClient, Element) throws -> Void
    ) async throws {
        try await run(change) { port, _ in
            try await onThread {
                for element in elements { try body(RawClient(port: port), element) }
            }
        }
    }

    /// What an endpoint answers that gets nothing but this body.
    static func answer(
        _ body: [UInt8], type: String, accept: String = "text/plain", fields: [String] = [],
        _ change: (inout RecognitionEndpointConfiguration) -> Void = { _ in }
    ) async throws -> (head: RawClient.Head, body: String) {
        try await run(change) { port, _ in
            try await post(body, type: type, accept: accept, to: port, fields: fields)
        }
    }

    /// Posts a whole body and reads the whole answer.
    static func post(
        _ body: [UInt8], type: String, accept: String = "text/plain", to port: Int,
        fields: [String] = []
    ) async throws -> (head: RawClient.Head, body: String) {
        try await onThread {
            try RawClient(port: port).post(
                body, ["Content-Type: \(type)", "Accept: \(accept)"] + fields)
        }
    }
}

enum Samples {
    static let folder = SourceTree.path("samples")

    static let grammar = folder + "/grammar/demo.gram"

    static func wav(_ name: String) throws -> [UInt8] {
        try readFile("\(folder)/\(name).wav")
    }

    /// A recording without its header of 44 bytes.
    static func pcm(_ name: String) throws -> [UInt8] {
        Array(try wav(name).dropFirst(44))
    }
}

/// Runs blocking calls on a thread of their own, because the server under test needs the pool.
func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await onOwnThread { Result(catching: body) }.get()
}
