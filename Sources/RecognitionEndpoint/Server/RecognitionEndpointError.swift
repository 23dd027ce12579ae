// SPDX-License-Identifier: Apache-2.0

/// Why the recognition endpoint cannot run.
public enum RecognitionEndpointError: Error, Sendable, Hashable {
    /// The recogniser's program cannot start; the hint is what it said can be done.
    case recogniserUnusable(reason: String, hint: String?)
    /// The address cannot be listened on.
    case cannotListen(host: String, port: Int, reason: String)
    /// The folder for uploads cannot be used.
    case uploadFolderUnusable(path: String, reason: String)
    /// The server broke down while it ran.
    case serverFailed(reason: String)
    /// `run` was called a second time, or after `shutdown`.
    case alreadyUsed
}

extension RecognitionEndpointError: CustomStringConvertible {
    /// What happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .recogniserUnusable(let reason, _):
            "the recogniser cannot be used: \(reason)"
        case .cannotListen(let host, let port, let reason):
            "cannot listen on \(host):\(port): \(reason)"
        case .uploadFolderUnusable(let path, let reason):
            "cannot keep uploads in '\(path)': \(reason)"
        case .serverFailed(let reason):
            "the recognition endpoint stopped: \(reason)"
        case .alreadyUsed:
            "the recognition endpoint has run already"
        }
    }

    package var hint: String? {
        switch self {
        case .recogniserUnusable(_, let hint):
            hint
        case .cannotListen:
            "choose another port, or 0 to let the system choose one, and an address of this machine"
        case .uploadFolderUnusable:
            "give this user the right to write there, or choose another folder"
        case .serverFailed, .alreadyUsed:
            nil
        }
    }
}
