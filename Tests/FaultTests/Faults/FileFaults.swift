// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// What goes wrong with the file operations of one program; see Tests/FileFaults/filefaults.c.
struct FileFaults: Sendable {
    enum Kill: Sendable {
        /// Operation N is the last that does not happen.
        case before(Int)
        /// Operation N is the last that happens.
        case after(Int)
    }

    /// How one operation fails, and perhaps all like it from then on.
    struct Failure: Sendable {
        var operation: Int
        /// The error it returns with; nil for a write of half the bytes.
        var error: Int32?
        /// Whether the others like it fail from then on, too.
        var onward = false
        /// Whether it never succeeds from then on, even where a call is interrupted.
        var isEndless = false
        /// The operations that fail; all when empty.
        var kinds: [String] = []
        /// Whether it does not return.
        var hangs = false
    }

    var kill: Kill?
    var failure: Failure?
    /// How much longer each sync takes.
    var syncDelay = Duration.zero
    var quota: Int?
    /// Writes that find the disk full before there is room again.
    var refusals: Int?
    /// Whether the operations are written down; they wait for each other then.
    var isTraced = true

    init(
        kill: Kill? = nil, failure: Failure? = nil, syncDelay: Duration = .zero, quota: Int? = nil,
        refusals: Int? = nil, isTraced: Bool = true
    ) {
        (self.kill, self.failure, self.syncDelay) = (kill, failure, syncDelay)
        (self.quota, self.refusals, self.isTraced) = (quota, refusals, isTraced)
    }

    /// All operations of these kinds hang, from that of a number on.
    init(hanging kinds: [String], from operation: Int = 1) {
        failure = Failure(operation: operation, onward: true, kinds: kinds, hangs: true)
        isTraced = false
    }

    /// The variables for a program whose operations below `folder` are seen.
    func environment(folder: String, trace: String) throws -> [String: String] {
        var environment = [
            "LD_PRELOAD": try Self.library.get().path("filefaults.so"),
            "UTTER_FAULT_FOLDER": folder,
        ]
        if isTraced { environment["UTTER_FAULT_TRACE"] = trace }
        switch kill {
        case .before(let number): environment["UTTER_FAULT_KILL"] = "-\(number)"
        case .after(let number): environment["UTTER_FAULT_KILL"] = "\(number)"
        case nil: break
        }
        if let failure {
            environment["UTTER_FAULT_AT"] = "\(failure.operation)"
            environment["UTTER_FAULT_ONWARD"] =
                failure.isEndless ? "2" : failure.onward ? "1" : "0"
            environment["UTTER_FAULT_ERRNO"] =
                failure.hangs ? "hang" : failure.error.map { "\($0)" } ?? "short"
            environment["UTTER_FAULT_KINDS"] = failure.kinds.joined(separator: ",")
        }
        if let quota { environment["UTTER_FAULT_QUOTA"] = "\(quota)" }
        if let refusals { environment["UTTER_FAULT_FREED"] = "\(refusals)" }
        environment["UTTER_FAULT_SYNC_MS"] = "\(syncDelay / .milliseconds(1))"
        return environment
    }

    /// Built once; its folder lasts as long as the tests.
    private static let library = Result {
        let folder = try TemporaryFolder.forProcess()
        try ForeignTool("cc").run([
            "-shared", "-fPIC", "-D_GNU_SOURCE", "-O1", "-Wall", "-Werror",
            "-o", folder.path("filefaults.so"),
            SourceTree.path("Tests/FileFaults/filefaults.c"), "-ldl",
        ])
        return folder
    }
}
