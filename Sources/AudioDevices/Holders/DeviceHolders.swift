// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Glibc
internal import LinuxPlatform

/// Who records from sound cards now, by what the kernel says of them and of processes.
///
/// Another user's process shows its name, but not its files; what cannot be read is left out.
struct DeviceHolders {
    /// A folder like `/proc`.
    var root = "/proc"

    /// Programs that hold a card; nil: any; from any thread; reads a few files for each process.
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
        fields(of: text)["owner_pid"].flatMap { Int32($0) }
    }

    /// Such as 1 of "/dev/snd/pcmC1D0c".
    static func card(ofCapture path: String) -> Int? {
        let prefix = "/dev/snd/pcmC"
        guard path.hasPrefix(prefix), path.hasSuffix("c") else { return nil }
        let parts = path.dropFirst(prefix.count).dropLast().split(separator: "D")
        guard parts.count == 2, Int(parts[1]) != nil else { return nil }
        return Int(parts[0])
    }

    private static func fields(of status: String) -> [String: String] {
        var fields: [String: String] = [:]
        for line in status.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[trimmed(parts[0])] = trimmed(parts[1]) }
        }
        return fields
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
                // A file that was closed meanwhile, or is another user's, is not one of them.
                guard let target = Self.target(of: path), let number = Self.card(ofCapture: target)
                else { return false }
                return card == nil || card == number
            }
        }
    }

    /// A thread's process.
    private func holder(_ task: Int32) -> DeviceHolder? {
        let fields = Self.fields(of: text("\(task)/status"))
        guard let program = fields["Name"], let process = fields["Tgid"].flatMap({ Int32($0) })
        else { return nil }
        return DeviceHolder(process: process, program: program)
    }

    private func names(_ folder: String) -> [String] {
        // A folder that is missing, or that we may not read, has no names.
        ((try? Folder.names(at: "\(root)/\(folder)")) ?? []).filter { !$0.hasPrefix(".") }
    }

    private func text(_ file: String) -> String {
        // A process may have ended meanwhile; it holds nothing then.
        guard let bytes = try? readFile("\(root)/\(file)", limit: 1 << 16) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func target(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
