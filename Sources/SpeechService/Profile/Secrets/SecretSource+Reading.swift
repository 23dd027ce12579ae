// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform

extension SecretSource {
    /// Reads the secret from a variable of the environment, a file or a credential of systemd; where
    /// none of Amazon's variables is set, from its file of credentials.
    ///
    /// For the closure that answers a pipeline's questions: the library itself reads no source. A
    /// file must belong to the user, and no other user may read it; its first line counts, without
    /// white space around it, and of a file of header fields all of it. Blocks no thread of the caller; a pipe is waited for 30 s.
    ///
    /// - Returns: the secret.
    /// - Throws: `ReadingError` when it is not there or must not be used, and for what only the
    ///   program itself can ask: a command, and what was given.
    public func read() async throws(ReadingError) -> String {
        switch self {
        case .variable(let name):
            if let value = Environment[filled: name] { return value }
            let shared = try await Self.onThread { () throws(ReadingError) in
                try SharedCredentials.value(of: name)
            }
            guard let shared else { throw ReadingError(SharedCredentials.absence(of: name)) }
            return shared
        case .file(let path):
            return try await Self.onThread { () throws(ReadingError) in
                try OwnFile(path).firstLine()
            }
        case .headerFile(let path):
            return try await Self.onThread { () throws(ReadingError) in
                String(decoding: try OwnFile(path).bytes(), as: UTF8.self)
            }
        case .credential(let name):
            guard let path = try Self.credentialPath(name) else {
                throw ReadingError("systemd has given this process no credentials")
            }
            return try await Self.onThread { () throws(ReadingError) in
                guard OwnFile.isRegular(path) else {
                    let shown = TerminalText.shown(name)
                    throw ReadingError(
                        "systemd has given this process no credential '\(shown)'")
                }
                return try OwnFile(path).firstLine()
            }
        case .command, .given:
            throw ReadingError("the program cannot read \(self)")
        }
    }

    /// Where systemd puts what it gives a process under a name (`LoadCredential=`, systemd.exec(5));
    /// nil when it gives this one nothing.
    package static func credentialPath(_ name: String) throws(ReadingError) -> String? {
        guard !name.isEmpty, !name.contains("/"), name != ".." else {
            throw ReadingError("'\(TerminalText.shown(name))' cannot be the name of a credential")
        }
        guard let folder = Environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
            return nil
        }
        return folder + "/\(name)"
    }

    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ReadingError) -> Value
    ) async throws(ReadingError) -> Value {
        let result: Result<Value, ReadingError>
        do throws(SystemError) {
            result = try await NamedThread.result(name: "secret", of: body)
        } catch {
            throw ReadingError(error.description)
        }
        return try result.get()
    }
}
