// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Utter

extension Spool {
    /// The takes of this person, under the key that the options name.
    convenience init(
        _ encryption: EncryptionOptions, limits: SpoolLimits = .standard
    ) throws(CommandFailure) {
        let key = try encryption.source.key()
        self.init(
            at: Environment.stateFolder, key: key.map { key in { @Sendable in key } },
            limits: limits)
    }

    /// Finds one take by a part of its name, or by `last` or `last~2`.
    func named(_ name: String) throws(CommandFailure) -> KeptTake {
        try find { () throws(TakeStoreError) in try take(name) }
    }

    /// Finds takes; when a name is that of several, a person may choose.
    func find<Found>(
        _ body: () throws(TakeStoreError) -> Found
    ) throws(CommandFailure) -> Found {
        do throws(TakeStoreError) {
            return try body()
        } catch {
            var failure = CommandFailure(error)
            if case .ambiguous(_, let ids) = error {
                failure.choices = TakeEntry.choices(of: ids, in: self)
            }
            throw failure
        }
    }
}

extension ServiceOptions {
    /// How a kept take that can be read is delivered.
    func delivery(
        of take: KeptTake, format: AudioCodec?
    ) throws(CommandFailure) -> DeliveryPlan {
        if let lock = take.lock { throw CommandFailure(lock) }
        return try delivery(
            of: orFailure { try take.manifest.get() }, format: format)
    }
}
