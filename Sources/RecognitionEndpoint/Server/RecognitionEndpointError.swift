// SPDX-License-Identifier: Apache-2.0

/// Why the recognition endpoint cannot run.
public enum RecognitionEndpointError: Error, Sendable, Hashable {
    /// A file of the model cannot be read; `what` names its part.
    case modelFileUnreadable(what: String, path: String, reason: String)
    /// The grammar's text is not JSGF, or uses what is not supported.
    case grammarMalformed(path: String, line: Int, reason: String)
    /// PocketSphinx refused the model; `reason` is its own word for it.
    case modelRefused(reason: String)
    /// The address cannot be listened on.
    case cannotListen(host: String, port: Int, reason: String)
    /// A thread for a recogniser could not be started.
    case noThread(reason: String)
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
        case .modelFileUnreadable(let what, let path, let reason):
            "cannot read the \(what) '\(path)': \(reason)"
        case .grammarMalformed(let path, let line, let reason):
            "the grammar '\(path)' is not understood: line \(line): \(reason)"
        case .modelRefused(let reason):
            "PocketSphinx cannot use this model: \(reason)"
        case .cannotListen(let host, let port, let reason):
            "cannot listen on \(host):\(port): \(reason)"
        case .noThread(let reason):
            "cannot start a recogniser's thread: \(reason)"
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
        case .modelFileUnreadable(let what, let path, _):
            if path.hasPrefix(RecognitionModel.debianFolder) {
                "install it with 'apt-get install pocketsphinx-en-us', or name another model"
            } else {
                "check the path of the \(what)"
            }
        case .grammarMalformed:
            "correct the grammar: '#JSGF V1.0;', 'grammar NAME;', then rules such as "
                + "'public <order> = go (forward | back);'"
        case .modelRefused:
            "check that every word of the grammar is in the dictionary, and that acoustic "
                + "model, dictionary and language model belong together"
        case .cannotListen:
            "choose another port, or 0 to let the system choose one, and an address of this machine"
        case .uploadFolderUnusable:
            "give this user the right to write there, or choose another folder"
        case .noThread, .serverFailed, .alreadyUsed:
            nil
        }
    }
}
