// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc
internal import LinuxPlatform

/// The transfers of one loop and the multi handle that carries them.
///
/// A turn looks at the transfers whose bodies have grown, which libcurl has called for, and whose
/// time has come. Touched by the transfer thread alone.
final class TransferTable {
    private let multi: CurlMulti
    private let marks: Marks
    private var waiting: [TransferCommand.Start] = []
    private var transfers: [Transfer] = []
    private var marked: [ObjectIdentifier: [Transfer]] = [:]
    /// Marks of this turn; empty between turns.
    private var grown: [Mark] = []
    private let touched = TouchedTransfers()
    private let sockets = OpenSockets()
    /// When all transfers are looked at.
    private var nextRound = ContinuousClock.now
    /// The earliest time at which one of them is to be looked at, or sooner.
    private var firstLook = ContinuousClock.now
    /// Looks at one transfer, and rounds in which all are looked at, for tests.
    private(set) var (lookCount, roundCount) = (0, 0)
    var actCount: Int { multi.actCount }

    /// The wake-up's marks are those of bodies that have grown.
    init(wokenBy wakeup: Wakeup) throws(CurlRefusal) {
        multi = try CurlMulti(wokenBy: wakeup.descriptor)
        marks = wakeup.marks
    }

    func obey(_ command: TransferCommand) {
        switch command {
        case .look: for transfer in transfers { touched.add(transfer) }
        case .start(let start): waiting.append(start)
        case .hurry(let id):
            for index in waiting.indices where waiting[index].id == id {
                waiting[index].due = waiting[index].notBefore
            }
        case .cancel(let id):
            if let index = waiting.firstIndex(where: { $0.id == id }) {
                waiting.remove(at: index).observer.transferDidEnd(.unstarted(.cancelled))
            } else if let transfer = transfers.first(where: { $0.id == id }) {
                transfer.cancel()
                breakOff(transfer)
            }
        }
    }

    /// Every transfer is looked at this often, all at the same time: in the first turn that is taken
    /// for another reason within `roundSlack`, or then.
    private static let round = Duration.milliseconds(250)
    private static let roundSlack = Duration.milliseconds(30)

    /// Advances the transfers that have something to do; returns when to do so again, nil for never.
    func turn() -> ContinuousClock.Instant? {
        // Deadlines are looked at as of now: what had come by then is heard before it is judged, even
        // when the process is stopped in the middle of this.
        let now = ContinuousClock.now
        begin(now: now)
        marks.take { mark in
            grown.append(mark)
            marked[ObjectIdentifier(mark)]?.forEach { touched.add($0) }
        }
        if now >= nextRound || now >= firstLook { hearAndTouch(now) }
        multi.actOnWhatIsReady()
        for socket in multi.takeOwnReady() {
            for transfer in transfers where transfer.channelSocket == socket {
                transfer.isReadable = true
                touched.add(transfer)
            }
        }
        for transfer in touched.list { pump(transfer) }
        multi.actOnTimer()
        removeEnded()
        for mark in grown { mark.tell() }
        grown.removeAll(keepingCapacity: true)
        // After libcurl's turn, which may have brought a refusal or begun a deadline.
        touched.take { transfer in
            guard !transfer.notes.hasEnded else { return }
            lookCount += 1
            transfer.notes.nextLook = transfer.look(now: now)
            firstLook = min(firstLook, transfer.notes.nextLook)
            if transfer.mustEnd { breakOff(transfer) }
        }
        return nextTurn
    }

    private func hearAndTouch(_ now: ContinuousClock.Instant) {
        multi.wait(milliseconds: 0)
        let isRound = now >= nextRound
        if isRound {
            nextRound = now + Self.round
            roundCount += 1
        }
        firstLook = nextRound + Self.roundSlack
        for transfer in transfers {
            if isRound || transfer.notes.nextLook <= now {
                touched.add(transfer)
            } else {
                firstLook = min(firstLook, transfer.notes.nextLook)
            }
        }
    }

    private var nextTurn: ContinuousClock.Instant? {
        var next = transfers.isEmpty ? nil : firstLook
        for start in waiting { next = min(next ?? start.due, start.due) }
        if let timer = multi.timer { next = min(next ?? timer, timer) }
        return next
    }

    /// Has libcurl send what a body has more, or deliver an early refusal.
    private func pump(_ transfer: Transfer) {
        guard !transfer.notes.hasEnded else { return }
        if let socket = transfer.channelSocket {
            transfer.exchange()
            return multi.watch(own: socket, for: transfer.channelEvents)
        }
        guard transfer.unpauseWhenDue() else { return }
        guard let socket = transfer.sendingSocket else { return multi.actOnTimer() }
        multi.send(on: socket)
        // libcurl pauses a body only when it asks for more and gets nothing: without another turn
        // it would wait for the socket, which is ready at once.
        if transfer.awaitsPause { multi.send(on: socket) }
    }

    /// Waits for any connection, for the wake-up or for the time; -1 is for ever.
    ///
    /// - Returns: whether the wake-up was signalled, of which there is nothing to read.
    func wait(milliseconds: Int32) -> Bool {
        multi.wait(milliseconds: milliseconds)
        return multi.takeWakeup()
    }

    func cancelEverything() {
        for id in waiting.map(\.id) + transfers.map(\.id) { obey(.cancel(id)) }
    }

    private func begin(now: ContinuousClock.Instant) {
        guard !waiting.isEmpty else { return }
        for start in waiting where start.due <= now {
            do throws(CurlRefusal) {
                let transfer = try Transfer(
                    id: start.id, request: start.request, observer: start.observer,
                    sockets: sockets, touched: touched)
                try unsafe multi.add(transfer.raw)
                transfers.append(transfer)
                if let mark = transfer.request.growth {
                    marked[ObjectIdentifier(mark), default: []] += [transfer]
                }
                touched.add(transfer)
            } catch {
                start.observer.transferDidEnd(.unstarted(.unprepared(error.description)))
            }
        }
        waiting.removeAll { $0.due <= now }
    }

    private func removeEnded() {
        unsafe multi.takeEnded { easy, code in
            guard let transfer = transfers.first(where: { unsafe $0.raw == easy }) else { return }
            // Its handle stays here, or libcurl closes the connection.
            guard code == CURLE_OK, transfer.openChannel() else {
                return remove(transfer, code: code)
            }
            touched.add(transfer)
            pump(transfer)
        }
    }

    private func breakOff(_ transfer: Transfer) {
        transfer.closeConnection()
        remove(transfer, code: CURLE_ABORTED_BY_CALLBACK)
    }

    private func remove(_ transfer: Transfer, code: CURLcode) {
        if let socket = transfer.channelSocket { multi.watch(own: socket, for: .none) }
        unsafe multi.remove(transfer.raw)
        transfer.notes.hasEnded = true
        transfers.removeAll { $0 === transfer }
        if let mark = transfer.request.growth.map(ObjectIdentifier.init) {
            marked[mark]?.removeAll { $0 === transfer }
            if marked[mark]?.isEmpty == true { marked[mark] = nil }
        }
        transfer.end(code: code)
    }
}

/// The table's own notes of a transfer.
struct TransferNotes {
    var isTouched = false
    var hasEnded = false
    /// The result of the last look.
    var nextLook = ContinuousClock.now
}

/// The transfers to be looked at in this turn; touched by the transfer thread alone.
final class TouchedTransfers {
    private(set) var list: [Transfer] = []
    /// Transfers that were taken; empty between turns, and made once as the others.
    private var taken: [Transfer] = []

    func add(_ transfer: Transfer) {
        if !transfer.notes.isTouched { list.append(transfer) }
        transfer.notes.isTouched = true
    }

    func take(_ look: (Transfer) -> Void) {
        swap(&list, &taken)
        for transfer in taken { transfer.notes.isTouched = false }
        for transfer in taken { look(transfer) }
        taken.removeAll(keepingCapacity: true)
    }
}

/// The sockets that libcurl has opened for one loop; some are closed since.
///
/// libcurl tells of a connection that it is about to use by its local port alone. Touched by the
/// transfer thread alone.
final class OpenSockets {
    private var descriptors: Set<Int32> = []
    /// HTTP/2 connections, as far as known.
    private var multiplexed: Set<Int32> = []

    func add(_ socket: Int32) {
        descriptors.insert(socket)
        multiplexed.remove(socket)
    }

    func socket(ofLocalPort port: Int32) -> Int32? {
        descriptors.first { utter_local_port($0) == port }
    }

    func noteMultiplexed(_ socket: Int32) { multiplexed.insert(socket) }

    /// Whether bytes wait on a connection over which nothing was asked.
    ///
    /// libcurl would take them for the next answer. On HTTP/2 that cannot happen: each answer names
    /// its request (RFC 9113 §5.1.1).
    func hasUnaskedBytes(_ socket: Int32) -> Bool {
        !multiplexed.contains(socket) && Self.peek(socket) != nil
    }

    /// 0 at the end of the connection, 1 when bytes are there, nil when none are.
    static func peek(_ socket: Int32) -> Int? {
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 ? count : nil
    }
}
