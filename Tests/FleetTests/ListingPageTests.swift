// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Fleet

struct ListingPageTests {
    @Test func aForeignDocumentIsNotAListing() {
        #expect(ListingPage(Array("<html></html>".utf8)) == nil)
    }
}
