// SPDX-License-Identifier: Apache-2.0

package import Utter

extension TakeAttempt: Encodable {
    private enum Key: String, CodingKey {
        case number, url, httpVersion, ending, reason, status, sentBytes, wireBytes, bodyComplete
        case framedBytes, receivedBytes, reused, proxy, tls, cipher, local, remote
        case resolvedMs, connectedMs, securedMs, headOutMs, firstByteOutMs, lastByteOutMs
        case firstByteInMs, firstBodyByteInMs, firstTextMs, lastByteInMs, endMs
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        let (timings, route) = (result.timings, result.route)
        try object.encode(number, forKey: .number)
        try object.encode(url, forKey: .url)
        try object.encode(timings.httpVersion, forKey: .httpVersion)
        try object.encode(result.ending.word, forKey: .ending)
        try object.encode(result.ending.reason, forKey: .reason)
        try object.encode(result.status, forKey: .status)
        try object.encode(result.sentByteCount, forKey: .sentBytes)
        try object.encode(result.wireByteCount, forKey: .wireBytes)
        try object.encode(result.framedByteCount, forKey: .framedBytes)
        try object.encode(result.receivedByteCount, forKey: .receivedBytes)
        try object.encode(result.isBodyComplete, forKey: .bodyComplete)
        try object.encode(result.hasReusedConnection, forKey: .reused)
        try object.encode(route.isByProxy, forKey: .proxy)
        try object.encode(route.tls, forKey: .tls)
        try object.encode(route.cipher, forKey: .cipher)
        try object.encode(route.local, forKey: .local)
        try object.encode(route.remote, forKey: .remote)
        let instants: [(Key, Duration?)] = [
            (.resolvedMs, timings.resolved), (.connectedMs, timings.connected),
            (.securedMs, timings.secured), (.headOutMs, timings.headOut),
            (.firstByteOutMs, timings.firstByteOut), (.lastByteOutMs, timings.lastByteOut),
            (.firstByteInMs, timings.firstByteIn),
            (.firstBodyByteInMs, timings.firstBodyByteIn), (.firstTextMs, timings.firstText),
            (.lastByteInMs, timings.lastByteIn), (.endMs, timings.end),
        ]
        for (key, instant) in instants { try object.encode(instant?.milliseconds, forKey: key) }
    }
}
