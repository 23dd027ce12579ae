// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite("JSONPath")
struct JSONPathTests {
    @Test(arguments: [
        ("", 0, "it is empty"), ("a..b", 2, "a name is missing"), ("a.", 2, "a name is missing"),
        ("a[", 2, "']' is missing"), ("a[1", 3, "']' is missing"),
        ("a[x]", 2, "only digits may stand in brackets"),
        ("a[-1]", 2, "only digits may stand in brackets"),
        ("a]b", 1, "']' without '['"), ("a[0]b", 4, "a dot or '[' must follow"),
        ("a[99999999999999999999]", 2, "the number is too large"),
    ])
    func aMistakeIsNamedByItsByte(text: String, offset: Int, reason: String) {
        let expected = ServiceError.invalidPath(text: text, offset: offset, reason: reason)
        #expect(throws: expected) { try JSONPath(text) }
    }

    @Test(arguments: ["text", "a.b.c", "a[0].b", "a[].b[2]", "[]", "[3].x", "."])
    func aPathIsWrittenAsItIsRead(text: String) throws {
        #expect(try JSONPath(text).description == text)
    }

    @Test func aLeadingDotIsAllowed() throws {
        #expect(try JSONPath(".error.message") == JSONPath(dotted: "error.message"))
    }

    @Test func ofTwoMembersTheLaterCounts() {
        let value = JSONValue.object([
            JSONMember(name: "a", value: .string("one")),
            JSONMember(name: "a", value: .string("two")),
        ])
        #expect(JSONPath(dotted: "a").text(in: value) == "two")
    }

    @Test func elementsWithoutTheNameAreLeftOut() throws {
        let value = JSONValue.array([
            .object([JSONMember(name: "t", value: .string("one"))]), .null,
            .object([JSONMember(name: "t", value: .string("two"))]),
        ])
        #expect(try JSONPath("[].t").text(in: value) == "one two")
        #expect(try JSONPath("[].x").text(in: value) == nil)
        #expect(try JSONPath("[9].t").text(in: value) == nil)
        #expect(try JSONPath("t[]").text(in: value) == nil)
    }
}
