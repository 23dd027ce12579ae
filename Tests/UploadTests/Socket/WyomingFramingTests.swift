// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

/// Events of Wyoming, from another hand's description of the format (github.com/OHF-Voice/wyoming).
@Suite struct WyomingFramingTests {
    /// The messages in bytes that come in pieces of this size.
    private func messages(_ text: String, piece: Int) throws -> [String] {
        var framing = WyomingFraming()
        var found: [String] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            framing.take(Array(bytes[start..<min(start + piece, bytes.count)]).span)
            while case .message(let message, _)? = try framing.next() {
                found.append(String(decoding: message, as: UTF8.self))
            }
        }
        return found
    }

    @Test(arguments: [1, 2, 7, 1_000])
    func linesDataAndPayloadsAreToldApart(_ piece: Int) throws {
        let text =
            #"{"type":"pong"}"# + "\n"
            + #"{"type":"info","data_length":9,"payload_length":5}"# + "\n" + #"{"a": 1}"#
            + " \n{}{\n"
            + #"{"type":"transcript","data":{"text":"hi"}}"# + "\n"
        #expect(
            try messages(text, piece: piece) == [
                #"{"type":"pong"}"#,
                #"{"type":"info","data_length":9,"payload_length":5,"data":{"a": 1} }"#,
                #"{"type":"transcript","data":{"text":"hi"}}"#,
            ])
    }

    @Test(arguments: [
        "hello\n", "{}\n", #"{"type":"x","data_length":-1}"# + "\n",
        #"{"type":"x","data_length":99999999}"# + "\n",
        #"{"type":"x","payload_length":-1}"# + "\n", String(repeating: "x", count: 70_000),
    ]) func whatIsNoEventIsAFault(_ text: String) {
        #expect(throws: SocketFault.self) { try messages(text, piece: 100_000) }
    }

    @Test func soundHasItsLengthBeforeIt() {
        let frame = WyomingFraming().frame(audio: [1, 2, 3, 4][1...])
        #expect(
            frame == Array(
                (#"{"type":"audio-chunk","data":{"rate":16000,"width":2,"channels":1},"payload_length":3}"#
                    + "\n").utf8) + [2, 3, 4])
    }
}
