// SPDX-License-Identifier: Apache-2.0

/// How far a job at a service has come, so that another process goes on with it.
///
/// A part of `take.json`, and of its encrypted part when the take is encrypted.
package struct ExchangeProgress: Sendable, Codable, Equatable {
    /// The step that is next, by its name.
    package var step: String
    /// What earlier steps have captured, such as the job's id.
    package var values: [String: String]
    /// What tells this job from one with other requests: it goes on only with the same.
    package var plan: String
    /// How often the service may have carried that step out, without an answer; nil is never.
    package var unknown: Int?

    package init(step: String, values: [String: String], plan: String, unknown: Int? = nil) {
        (self.step, self.values) = (step, values)
        (self.plan, self.unknown) = (plan, unknown)
    }
}
