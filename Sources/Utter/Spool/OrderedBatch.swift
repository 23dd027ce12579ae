// SPDX-License-Identifier: Apache-2.0

/// Recordings that are sent a few at a time, and whose endings are told in their own order.
package protocol OrderedBatch {
    associatedtype Ending: Sendable

    var itemCount: Int { get }

    /// Prepares the next one, when its turn has come.
    func job(_ index: Int) -> @Sendable () async -> Ending
    /// Learns how one ended, at once.
    mutating func learn(_ ending: Ending, _ index: Int)
    /// Tells how one ended, when all before it are told.
    mutating func tell(_ ending: Ending, _ index: Int) async
}

extension OrderedBatch {
    package mutating func runAll(jobs: Int) async {
        var endings: [Int: Ending] = [:]
        var told = 0
        await withTaskGroup(of: (Int, Ending).self) { group in
            var (next, running) = (0, 0)
            while true {
                while running < jobs, next < itemCount {
                    let (index, job) = (next, job(next))
                    (next, running) = (next + 1, running + 1)
                    group.addTask { (index, await job()) }
                }
                guard let (index, ending) = await group.next() else { break }
                running -= 1
                endings[index] = ending
                learn(ending, index)
                while let ending = endings.removeValue(forKey: told) {
                    await tell(ending, told)
                    told += 1
                }
            }
        }
    }
}
