// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// The keyboards of this machine that have one key and may be read, plugged in and out as they are.
///
/// Belongs to one thread.
package final class Keyboards {
    package enum Event: Equatable, Sendable {
        case key(HeldKey.Meaning, at: ContinuousClock.Instant)
        /// A keyboard is read from now on.
        case found(name: String)
        case gone(name: String)
    }

    /// Where the kernel shows its devices.
    static let folder = "/dev/input"

    private let key: KeyNumber
    private let watch: FolderWatch
    private var held: HeldKey
    private var devices: [String: (number: Int, device: InputDevice)] = [:]
    /// Devices that are not keyboards with this key.
    private var others: [String: FileMark] = [:]
    private var count = 0
    /// Why a device may not be read, if that is so of one.
    package private(set) var denial: SystemError?

    /// - Throws: `SystemError` when the folder of devices cannot be watched, or is not there.
    package init(having key: KeyNumber) throws(SystemError) {
        self.key = key
        held = HeldKey(key)
        watch = try FolderWatch(Self.folder, seesRights: true)
        _ = try look()
    }

    package var number: Int { devices.count }

    package var names: [String] { devices.values.map(\.device.name).sorted() }

    /// Blocks until something happens, and tells it in order.
    package func next() throws(SystemError) -> [Event] {
        let all = devices.sorted { $0.value.number < $1.value.number }
        var waits = [watch.number] + all.map(\.value.device.number)
        var descriptors = waits.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // An interrupted wait is one that ended early.
        guard unsafe poll(&descriptors, UInt(descriptors.count), -1) > 0 else { return [] }
        waits = descriptors.filter { $0.revents != 0 }.map(\.fd)
        var moves: [Move] = []
        for (name, entry) in all where waits.contains(entry.device.number) {
            moves += read(entry.device, entry.number, name)
        }
        // In the order in which a person moved keys, whichever keyboard was read first.
        let events = moves.enumerated()
            .sorted { ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset) }
            .flatMap { interpret($0.element) }
        // A name is used again for the next device.
        guard waits.contains(watch.number) || devices.count < all.count else { return events }
        watch.drain()
        return events + (try look())
    }

    /// A movement that a keyboard has told, and when.
    private struct Move {
        let number: Int
        let instant: ContinuousClock.Instant
        /// The key and how it moved; nil when the keyboard is gone.
        var key: (KeyNumber, KeyMovement)?
        var name = ""
    }

    private func read(_ device: InputDevice, _ number: Int, _ name: String) -> [Move] {
        var moves: [Move] = []
        while true {
            switch device.next() {
            case .nothing: return moves
            case .key(let moved, let movement, let instant):
                moves.append(Move(number: number, instant: instant, key: (moved, movement)))
            case .lost:
                devices[name] = nil
                return moves + [Move(number: number, instant: .now, name: device.name)]
            }
        }
    }

    private func interpret(_ move: Move) -> [Event] {
        guard let (key, movement) = move.key else {
            let meaning = held.lose(move.number).map { Event.key($0, at: move.instant) }
            return [.gone(name: move.name)] + (meaning.map { [$0] } ?? [])
        }
        let meaning = held.handle(key, movement, on: move.number, at: move.instant)
        return meaning.map { [.key($0, at: move.instant)] } ?? []
    }

    /// Opens what is new.
    private func look() throws(SystemError) -> [Event] {
        var events: [Event] = []
        denial = nil
        for name in try Folder.names(at: Self.folder)
        where name.hasPrefix("event") && devices[name] == nil {
            let path = Self.folder + "/" + name
            let mark = FileMark(path)
            if let mark, others[name] == mark { continue }
            others[name] = nil
            do throws(SystemError) {
                let device = try InputDevice(path)
                guard device.has(key) else {
                    others[name] = mark
                    continue
                }
                count += 1
                devices[name] = (count, device)
                events.append(.found(name: device.name))
            } catch {
                // Its rights may change, which is seen. A name that is gone again is not a device.
                if error.code == EACCES || error.code == EPERM { denial = error }
            }
        }
        return events
    }
}
