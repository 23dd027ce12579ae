// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
package import Utter

/// How fast a file is replayed: `realtime`, `max`, or a factor from 0.1 to 1000.
package struct PaceArgument: ExpressibleByArgument {
    package let pace: Pace

    static let unpaced = PaceArgument(pace: .unpaced)

    package static let realTime = PaceArgument(pace: .realTime)

    private init(pace: Pace) { self.pace = pace }

    package init?(argument: String) {
        switch argument {
        case "realtime": pace = .realTime
        case "max": pace = .unpaced
        default:
            guard let factor = Double(argument), (0.1...1_000).contains(factor) else { return nil }
            pace = .times(factor)
        }
    }

    var defaultValueDescription: String {
        switch pace {
        case .realTime: "realtime"
        case .unpaced: "max"
        case .times(let factor): "\(factor)"
        }
    }
}
