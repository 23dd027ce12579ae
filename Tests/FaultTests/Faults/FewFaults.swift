// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Whether one fault of each kind has to do, at each place once.
///
/// With a sanitizer a program takes ten times as long to start, and servers of other hands get long
/// recordings: `scripts/test.sh` and `.ci/run` ask for this then, by `UTTER_FEW_FAULTS`.
enum FewFaults {
    static let areWanted = getenv("UTTER_FEW_FAULTS") != nil
}

extension Array {
    /// All, or only the first of those that are alike when few faults are wanted.
    func thinned<Kind: Hashable>(by kind: (Element) -> Kind) -> Self {
        guard FewFaults.areWanted else { return self }
        var seen: Set<Kind> = []
        return filter { seen.insert(kind($0)).inserted }
    }

    func thinned(to count: Int) -> Self { FewFaults.areWanted ? Array(prefix(count)) : self }
}
