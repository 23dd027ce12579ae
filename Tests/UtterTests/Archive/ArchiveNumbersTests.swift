// SPDX-License-Identifier: Apache-2.0

import OperatorMetrics
import TestSupport
import Testing

@testable import Utter

/// What an operator hears of takes that are archived.
@Suite struct ArchiveNumbersTests {
    @Test func aTakeIsCountedOnceAndItsObjectsAreNot() async throws {
        let store = try ObjectServer()
        let bench = try ArchiveBench(store)
        _ = try await bench.say()
        #expect(await bench.pipeline.archive().stored == 1)
        #expect(store.objects.count == 3)
        let families = bench.pipeline.numbers.families
        let takes = families.first { $0.name == "utter_takes_total" }
        #expect(takes?.samples.map(\.value) == [1])
    }
}
