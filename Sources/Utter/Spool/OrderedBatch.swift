// SPDX-License-Identifier: Apache-2.0

package import SpeechService

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

/// Decides which services are worth asking again while many takes are sent.
///
/// An origin that cannot be reached will not treat the next take better, and neither will a URL
/// that redirects away, or refuses a token. A service that merely fails with a take may do better
/// with the next: only a long row of failures is proof.
package struct ServiceGate {
    /// Who is asked: one URL with its secrets.
    package struct Service: Hashable, Sendable {
        let origin: String
        /// Takes that go by another proxy, or trust another authority, may do better.
        let connection: ConnectionSettings
        let url: String
        let credentials: [Credential]

        package init(_ service: RecognitionService) {
            origin = service.url.origin.description
            connection = service.connection
            url = service.url.text
            credentials = service.credentials
        }
    }

    private enum Door: Hashable {
        case way(to: String, ConnectionSettings)
        case url(String)
        case service(Service)
    }

    /// So much of a row of failures closes a URL that answers at all.
    static let patience = 8
    /// A service that says that it is busy says so of all takes.
    private static let busyWeight = 4

    private var failures: [String: Int] = [:]
    private var reasons: [Door: String] = [:]

    package init() {}

    /// Why nothing more is sent to a service; nil while it is open.
    package func reason(against service: Service) -> String? {
        reasons[.way(to: service.origin, service.connection)] ?? reasons[.url(service.url)]
            ?? reasons[.service(service)]
    }

    /// Learns how a take to a service ended; nil: an answer.
    package mutating func note(_ failure: TakeFailure?, at service: Service) {
        guard let failure else {
            failures[service.url] = 0
            return
        }
        switch failure {
        case .insecure, .notTLS, .proxyRefused:
            close(.way(to: service.origin, service.connection), failure.description)
        case _ where failure.isOfConnecting:
            close(.way(to: service.origin, service.connection), failure.description)
        case .redirectRefused:
            close(.url(service.url), failure.description)
        // A secret that cannot be had now, or was not wanted, is not asked for by each take.
        case .tokenRefused, .secretMissing:
            close(.service(service), failure.description)
        case .unavailable(let status, _):
            count(status == 429 || status == 503 ? Self.busyWeight : 1, failure, service)
        case .notDelivered, .unfinished:
            count(1, failure, service)
        case .refused, .answerUnusable, .responseUnusable:
            // The take's own, as far as one can know.
            failures[service.url] = 0
        case .capture, .encoding, .journal, .outsideLimits, .tooShort, .cancelled, .left: break
        }
    }

    private mutating func count(_ weight: Int, _ failure: TakeFailure, _ service: Service) {
        failures[service.url, default: 0] += weight
        if failures[service.url, default: 0] >= Self.patience {
            close(.url(service.url), failure.description)
        }
    }

    private mutating func close(_ door: Door, _ reason: String) {
        reasons[door] = reasons[door] ?? reason
    }
}
