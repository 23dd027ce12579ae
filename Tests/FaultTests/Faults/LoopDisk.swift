// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

@testable import LinuxPlatform

/// A real ext4 in a file, whose power can be cut.
///
/// It is mounted where only one program and its children see it, and goes with them.
struct LoopDisk {
    /// Larger than what utter wants to stay free; the file has holes.
    private static let byteCount = 192 << 20
    /// `FS_IOC_SHUTDOWN` of <linux/fs.h>, `_IOR('X', 125, __u32)`.
    private static let shutDown: UInt = 0x8004_587D
    /// Without writing the file system's own journal first (`EXT4_GOING_FLAGS_NOLOGFLUSH`).
    private static let withoutFlush: UInt32 = 2

    private let image: String

    /// Why this machine has no such disk; nil when it has.
    static let obstacle: String? = {
        guard geteuid() == 0 else { return "only root may mount a disk" }
        do {
            let folder = try TemporaryFolder()
            let disk = try LoopDisk(in: folder)
            let (home, copy) = (folder.path("home"), folder.path("copy"))
            guard mkdir(home, 0o700) == 0, mkdir(copy, 0o700) == 0 else { return "no folder" }
            try disk.copy(to: copy, by: home)
            return nil
        } catch {
            return "there is no ext4 on a loop device: \(error)"
        }
    }()

    init(in folder: TemporaryFolder) throws {
        image = try folder.write([], to: "disk")
        guard truncate(image, off_t(Self.byteCount)) == 0 else {
            throw SystemError.last("truncate")
        }
        try ForeignTool("mkfs.ext4").run(["-q", "-F", image])
    }

    /// A line of shell that runs `utter` with the disk as its home, and says how it has ended;
    /// the disk stays until the shell is killed.
    var shell: String { shell(running: #""$0" "$@""#) }

    /// The same for another command, which holds no single quotes.
    func shell(running command: String) -> String {
        """
        exec unshare -m sh -c 'mount -o loop "\(image)" "$HOME" && { \(command); }; \
        echo "ended with $?" >&2; exec sleep 86400' "$0" "$@"
        """
    }

    /// Cuts the power of the disk that `process` has mounted at `path`: nothing that is not
    /// durable arrives any more, and every operation fails.
    static func cutPower(at path: String, of process: Int32) throws {
        let folder = try OwnedDescriptor(of: "open") {
            open("/proc/\(process)/root\(path)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        var flags = withoutFlush
        guard ioctl(folder.number, shutDown, &flags) == 0 else { throw SystemError.last("ioctl") }
    }

    /// Waits until no process uses the disk, mounts it at `path`, which replays its journal, and
    /// copies all that is left into a folder.
    func copy(to folder: String, by path: String) throws {
        try ForeignTool("unshare").run([
            "-m", "sh", "-c",
            """
            while losetup -j "$0" | grep -q .; do sleep 0.05; done
            mount -o loop "$0" "$1" && rmdir "$1/lost+found" && cp -a "$1/." "$2"
            """, image, path, folder,
        ])
    }
}
