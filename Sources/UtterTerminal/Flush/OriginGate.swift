// SPDX-License-Identifier: Apache-2.0

package import Utter

/// Decides which services are worth asking again while many takes are sent.
///
/// A service that cannot be reached, or refuses the key, will not treat the next take better. Of
/// one that merely fails, a few takes in a row are proof; a single one may be the take's own fault.
package struct OriginGate {
    /// So many failures in a row close an origin that answers at all.
    static let patience = 3

    private var failures: [String: Int] = [:]
    private var reasons: [String: String] = [:]

    package init() {}

    /// Why nothing more is sent to an origin; nil while it is open.
    package func reason(against origin: String) -> String? { reasons[origin] }

    /// Learns how a take to an origin ended; nil is an answer.
    package mutating func note(_ failure: TakeFailure?, at origin: String) {
        guard let failure else {
            failures[origin] = 0
            return
        }
        switch failure {
        case .keyRefused, .insecure, .redirectRefused, .notDelivered(.cannotResolve, _),
            .notDelivered(.cannotConnect, _), .notDelivered(.timedOut(.connect), _):
            close(origin, failure.description)
        case .unavailable, .notDelivered:
            failures[origin, default: 0] += 1
            if failures[origin, default: 0] >= Self.patience { close(origin, failure.description) }
        case .refused, .answerUnusable, .responseUnusable:
            // The take's own, as far as one can know.
            failures[origin] = 0
        case .capture, .encoding, .journal, .cancelled, .left: break
        }
    }

    /// Closes an origin; the first reason counts.
    package mutating func close(_ origin: String, _ reason: String) {
        reasons[origin] = reasons[origin] ?? reason
    }
}
