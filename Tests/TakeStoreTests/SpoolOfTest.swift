// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore

/// A folder of takes in a folder of the test's own.
protocol SpoolOfTest {
    /// Holds the state folder `utter`.
    var scratch: TemporaryFolder { get }
    var store: TakeStore { get }
}

extension SpoolOfTest {
    func id(_ number: Int) throws -> TakeID {
        let digits = String(100_000 + number)
        return try #require(TakeID("20261121-\(digits)-abcdefghjkmn"))
    }

    @discardableResult
    func leave(_ number: Int, audio: Int? = 10) throws -> TakeFolder {
        let take = try store.makeTake(try id(number))
        if let audio {
            let bytes = [UInt8](repeating: 1, count: audio)
            try scratch.write(bytes, to: "utter/takes/\(take.id.text)/audio.wav")
        }
        try take.save(
            TakeManifest(
                id: take.id, created: Date(), audio: "audio.wav", format: "wav", source: "", url: ""
            ))
        take.unlock()
        return take
    }
}
