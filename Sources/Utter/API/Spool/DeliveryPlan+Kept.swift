// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
public import TakeStore

extension DeliveryPlan {
    /// The plan that a kept take remembers.
    ///
    /// Its secrets are asked of the pipeline's `SecretProvider` when the take is sent: those that were
    /// given for the origin of its URL, and no others.
    ///
    /// - Throws: `TakeStoreError` when the take cannot be read, or does not know where it was meant to
    ///   go.
    public init(of take: KeptTake) throws(TakeStoreError) {
        let manifest = try take.manifest.get()
        if let lock = take.lock { throw lock }
        guard let record = manifest.delivery else {
            throw .unreadable(
                take: take.id.text, reason: "it does not know where it was meant to go")
        }
        do throws(ProfileError) {
            self = try DeliveryPlan(record)
        } catch {
            throw .unreadable(take: take.id.text, reason: error.description)
        }
        // It is sent with what it had, whatever its profile wants.
        let parts = service.authentication.parts
        service.authentication.parts = []
        do throws(SecretRefusal) {
            try addSecrets(remembered: record.secrets ?? [])
        } catch {
            throw .unreadable(take: take.id.text, reason: error.description)
        }
        service.authentication.parts = parts
    }
}
