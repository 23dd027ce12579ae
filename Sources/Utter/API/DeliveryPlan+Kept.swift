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
        let origin = service.url.origin.description
        for secret in record.secrets ?? [] where secret.origin == origin {
            do throws(ServiceError) {
                service.add(try Credential(askedFor: secret))
            } catch {
                throw .unreadable(take: take.id.text, reason: error.description)
            }
        }
    }
}

extension Credential {
    fileprivate init(askedFor secret: DeliveryRecord.Secret) throws(ServiceError) {
        let percent = SecretForm.percentEncoded
        self.init(
            askedOf: secret.source, place: secret.place,
            form: secret.form == percent.description ? percent : try SecretForm(secret.form))
    }
}
