// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import Utter

/// Decides which of the takes that wait are sent unasked, and in which order; pure.
///
/// Those that no delivery has failed with go first, so that a take with which the service always
/// fails holds up no other.
package struct FlushQueue {
    package private(set) var due: [TakeManifest] = []
    /// Those that the same request would fail with again.
    package private(set) var held: [TakeManifest] = []
    /// Those that the service may have, and that were not to be sent again unasked.
    package private(set) var doubtful: [TakeManifest] = []
    package private(set) var later: [TakeManifest] = []
    package private(set) var old: [TakeManifest] = []

    /// Sorts takes, the oldest of which come first.
    package init(
        _ takes: [TakeManifest], isAsked: Bool, now: Date = Date(),
        isChanged: (TakeManifest) -> Bool, isDoubtful: (TakeManifest) -> Bool,
        isOld: (TakeManifest) -> Bool
    ) {
        for take in takes {
            if isAsked {
                due.append(take)
            } else if isOld(take) {
                old.append(take)
            } else if isDoubtful(take) {
                doubtful.append(take)
            } else if take.isHeld == true, !isChanged(take) {
                held.append(take)
            } else if let next = take.nextTry, next > now {
                later.append(take)
            } else {
                due.append(take)
            }
        }
        // Stable: those alike stay in the order of their age.
        due = due.enumerated().sorted { one, two in
            let (before, after) = (one.element.failures ?? 0, two.element.failures ?? 0)
            return before == after ? one.offset < two.offset : before < after
        }.map(\.element)
    }
}
