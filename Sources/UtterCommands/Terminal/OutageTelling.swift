// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Decides which broken transfers of a take a person is told of: the first, and each that breaks
/// for another reason than the one before.
///
/// Pure.
struct OutageTelling {
    private var reason: String?
    private var isOffline = false
    private var hasToldReturn = false

    /// A transfer broke, and another follows.
    ///
    /// - Returns: what to say of it, or nil when it has been said.
    mutating func interrupted(_ failure: TakeFailure) -> String? {
        // A service that asks for a pause can be reached.
        if case .unavailable = failure { isOffline = false } else { isOffline = true }
        guard failure.description != reason else { return nil }
        reason = failure.description
        hasToldReturn = false
        return reason
    }

    /// A connection stands.
    ///
    /// - Returns: whether to say that it is back.
    mutating func connected() -> Bool {
        defer { (isOffline, hasToldReturn) = (false, isOffline || hasToldReturn) }
        return isOffline && !hasToldReturn
    }
}
