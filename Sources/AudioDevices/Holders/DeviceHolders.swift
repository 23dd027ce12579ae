// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Glibc
internal import LinuxPlatform

/// Who records from sound cards now, by what the kernel says of them and of processes.
///
/// Another user's process shows its name, but not its files; what cannot be read is left out.
struct DeviceHolders {
    private let root: String

    /// `root` is a folder like `/proc`.
    init(root: String = "/proc") { self.root = root }

    /// Nil is any card; from any thread; reads a few files for each process.
    func holders(ofCard card: Int? = nil) -> [DeviceHolder] {
        let owners = owners(ofCard: card)
        let processes = owners.isEmpty ? openers(ofCard: card) : owners
        var found: [DeviceHolder] = []
        for process in processes {
            guard let holder = holder(process), !found.contains(holder) else { continue }
            found.append(holder)
        }
        return found
    }

    // MARK: - Pure

    /// From the substream's `status` file.
    static func owner(inStatus text: String) -> Int32? {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]) == "owner_pid" else { continue }
            return Int32(trimmed(parts[1]))
        }
        return nil
    }

    /// Such as 1 of "/dev/snd/pcmC1D0c".
    static func card(ofCapture path: String) -> Int? {
        let prefix = "/dev/snd/pcmC"
        guard path.hasPrefix(prefix), path.hasSuffix("c") else { return nil }
        let parts = path.dropFirst(prefix.count).dropLast().split(separator: "D")
        guard parts.count == 2, Int(parts[1]) != nil else { return nil }
        return Int(parts[0])
    }

    /// From the task's `status` file; a thread's process.
    static func holder(inStatus text: String) -> DeviceHolder? {
        var (name, process): (String?, Int32?)
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            if parts[0] == "Name" { name = trimmed(parts[1]) }
            if parts[0] == "Tgid" { process = Int32(trimmed(parts[1])) }
        }
        guard let name, let process else { return nil }
        return DeviceHolder(process: process, program: name)
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " }.reversed())
    }

    // MARK: - Reading

    private func owners(ofCard card: Int?) -> [Int32] {
        var found: [Int32] = []
        for name in names("asound") {
            guard name.hasPrefix("card"), let number = Int(name.dropFirst(4)) else { continue }
            guard card == nil || card == number else { continue }
            for pcm in names("asound/\(name)") where pcm.hasPrefix("pcm") && pcm.hasSuffix("c") {
                for part in names("asound/\(name)/\(pcm)") where part.hasPrefix("sub") {
                    let text = text("asound/\(name)/\(pcm)/\(part)/status")
                    if let owner = Self.owner(inStatus: text) { found.append(owner) }
                }
            }
        }
        return found
    }

    private func openers(ofCard card: Int?) -> [Int32] {
        names("").compactMap { Int32($0) }.filter { process in
            names("\(process)/fd").contains { name in
                let path = "\(root)/\(process)/fd/\(name)"
                // A file that was closed meanwhile, or is another user's, is none of them.
                guard let target = Self.target(of: path), let number = Self.card(ofCapture: target)
                else { return false }
                return card == nil || card == number
            }
        }
    }

    private func holder(_ task: Int32) -> DeviceHolder? {
        Self.holder(inStatus: text("\(task)/status"))
    }

    private func names(_ folder: String) -> [String] {
        // What is not there, or not ours to be read, has none.
        ((try? Folder.names(at: "\(root)/\(folder)")) ?? []).filter { !$0.hasPrefix(".") }
    }

    private func text(_ file: String) -> String {
        let number = unsafe open("\(root)/\(file)", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return "" }
        let descriptor = OwnedDescriptor(taking: number)
        // A process may have ended meanwhile; it holds nothing then.
        guard let bytes = try? readAll(descriptor.number, limit: 1 << 16) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func target(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
