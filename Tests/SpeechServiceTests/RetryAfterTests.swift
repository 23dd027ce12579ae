// SPDX-License-Identifier: Apache-2.0

import SpeechService
import Testing

@Suite("RetryAfter")
struct RetryAfterTests {
    /// 1994-11-06T08:49:07Z: half a minute before the date in RFC 9110.
    private let now: Int64 = 784_111_747

    @Test(arguments: [
        ("0", 0), ("7", 7), (" 120\t", 120), ("3600", 3600), ("3601", 3600),
        ("99999999999999999999999", 3600),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 30),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 30),
        ("Sun Nov  6 08:49:37 1994", 30),
        ("Sun Nov 16 08:49:37 1994", 3600),
        ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
        ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:60 GMT", 3600),
    ])
    func aWaitIsRead(value: String, seconds: Int64) {
        #expect(RetryAfter.parse(value, now: now) == .seconds(seconds))
    }

    @Test(arguments: [
        "", " ", "-1", "+5", "1.5", "soon", "1e3", "٣", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT",
    ])
    func nonsenseIsNil(value: String) {
        #expect(RetryAfter.parse(value, now: now) == nil)
    }

    @Test(arguments: [
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
        ("Sat, 01 Jan 2000 00:00:00 GMT", 946_684_800),
        ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Friday, 01-Jan-27 00:00:00 GMT", 1_798_761_600),
    ])
    func aDateIsTheRightSecond(value: String, epoch: Int64) {
        #expect(RetryAfter.parse(value, now: epoch - 10) == .seconds(10))
    }
}
