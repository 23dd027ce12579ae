// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import AudioDevices
@testable import Capture

/// Who holds a card, told from files like those of the kernel.
@Suite struct DeviceHoldersTests {
    /// A folder like `/proc`: a card that process 4711 records from with its thread 4712, a free
    /// one, and a process that has a third card's file open.
    private func root() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let running = "state: RUNNING\nowner_pid   : 4712\ntrigger_time: 1.2\n"
        let files = [
            "asound/card0/pcm0c/sub0/status": running,
            "asound/card0/pcm0p/sub0/status": "owner_pid   : 99\n",
            "asound/card1/pcm0c/sub0/status": "closed\n",
            "4712/status": "Name:\tarecord\nUmask:\t0022\nTgid:\t4711\nPid:\t4712\n",
            "99/status": "Name:\tmpv\nTgid:\t99\n",
            "123/status": "Name:\tzoom us\nTgid:\t123\n",
        ]
        for (path, text) in files {
            try make(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), in: folder)
            _ = try folder.write(Array(text.utf8), to: path)
        }
        try make("123/fd", in: folder)
        try #require(symlink("/dev/snd/pcmC2D0c", folder.path("123/fd/7")) == 0)
        try #require(symlink("/dev/null", folder.path("123/fd/0")) == 0)
        return folder
    }

    private func make(_ path: String, in folder: TemporaryFolder) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path(path), withIntermediateDirectories: true)
    }

    /// The owner of a substream, by its process; without one the process that has the file open.
    @Test func theHolderOfACardIsNamed() throws {
        let folder = try root()
        let holders = DeviceHolders(root: folder.path(""))
        let arecord = DeviceHolder(process: 4711, program: "arecord")
        #expect(holders.holders(ofCard: 0) == [arecord])
        #expect(holders.holders() == [arecord])
        #expect(holders.holders(ofCard: 1).isEmpty)
        #expect(
            holders.holders(ofCard: 2) == [DeviceHolder(process: 123, program: "zoom us")])
        // Nothing is known without the kernel's files.
        #expect(DeviceHolders(root: "/nowhere").holders().isEmpty)
    }

    @Test(
        arguments: [
            ("owner_pid   : 12\n", 12), ("state: OPEN\nowner_pid: 7", 7), ("closed\n", nil),
            ("", nil), ("owner_pid   : many\n", nil), ("owner_pid", nil),
        ] as [(String, Int32?)])
    func theOwnerIsReadFromTheStatus(_ text: String, _ owner: Int32?) {
        #expect(DeviceHolders.owner(inStatus: text) == owner)
    }

    @Test(
        arguments: [
            ("/dev/snd/pcmC1D0c", 1), ("/dev/snd/pcmC12D3c", 12), ("/dev/snd/pcmC1D0p", nil),
            ("/dev/snd/controlC0", nil), ("/dev/snd/pcmCxD0c", nil), ("/dev/null", nil), ("", nil),
        ] as [(String, Int?)])
    func theCardIsReadFromTheFilesName(_ path: String, _ card: Int?) {
        #expect(DeviceHolders.card(ofCapture: path) == card)
    }
}
