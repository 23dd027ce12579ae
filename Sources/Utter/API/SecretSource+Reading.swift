// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
public import SpeechService

/// Why a source gives no secret; the description says it in one line.
public struct SecretSourceError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Remedy: Sendable, Equatable {
        case closeToOthers(path: String)
        case writeFirstLine
        case writeToPipe
    }

    /// What happened and why.
    public let description: String
    /// What a person can do about it; nil is nothing that is known.
    package var remedy: Remedy?
}

extension SecretSource {
    /// Reads the secret from a variable of the environment, a file or a credential of systemd.
    ///
    /// For the closure that answers a pipeline's questions: the library itself reads no source. A
    /// file must belong to the user, and no other user may read it; its first line counts, without
    /// white space around it. Blocks no thread of the caller; a pipe is waited for 30 s.
    ///
    /// - Returns: the secret.
    /// - Throws: `SecretSourceError` when it is not there or must not be used, and for what only the
    ///   program itself can ask: a command, and what was given.
    public func read() async throws(SecretSourceError) -> String {
        switch self {
        case .variable(let name):
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else {
                throw SecretSourceError(description: "\(name) is not set")
            }
            return unsafe String(cString: value)
        case .file(let path), .pipe(let path):
            return try await Self.onThread { () throws(SecretSourceError) in
                try OwnFile(path).firstLine()
            }
        case .headerFile(let path, let field):
            let fields = try await Self.onThread { () throws(SecretSourceError) in
                try OwnFile(path).headerFields()
            }
            guard let found = fields.first(where: { $0.isNamed(field) }) else {
                throw SecretSourceError(description: "the file '\(path)' does not hold it any more")
            }
            return found.value
        case .credential(let name):
            guard let path = try Self.credentialPath(name) else {
                throw SecretSourceError(
                    description: "systemd has given this process no credentials")
            }
            return try await Self.onThread { () throws(SecretSourceError) in
                guard OwnFile.isRegular(path) else {
                    let shown = TerminalText.shown(name)
                    throw SecretSourceError(
                        description: "systemd has given this process no credential '\(shown)'")
                }
                return try OwnFile(path).firstLine()
            }
        case .command, .given:
            throw SecretSourceError(description: "the program cannot read \(self)")
        }
    }

    /// Where systemd puts what it gives a process under a name (`LoadCredential=`, systemd.exec(5));
    /// nil when it gives this one nothing.
    package static func credentialPath(
        _ name: String
    ) throws(SecretSourceError) -> String? {
        guard !name.isEmpty, !name.contains("/"), name != ".." else {
            throw SecretSourceError(
                description: "'\(TerminalText.shown(name))' is no name of a credential")
        }
        guard let folder = unsafe getenv("CREDENTIALS_DIRECTORY"),
            unsafe folder.pointee == UInt8(ascii: "/")
        else { return nil }
        return unsafe String(cString: folder) + "/\(name)"
    }

    /// Runs what may wait for a disk or for a pipe.
    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SecretSourceError) -> Value
    ) async throws(SecretSourceError) -> Value {
        let answer = Settlement<Result<Value, SecretSourceError>>()
        do throws(SystemError) {
            _ = try NamedThread(name: "secret") { answer.settle(Result(catching: body)) }
        } catch {
            throw SecretSourceError(description: error.description)
        }
        return try await answer.value.get()
    }
}

/// A file that holds a secret, of the user whose process this is.
package struct OwnFile: Sendable {
    /// More than any secret.
    private static let limit = 16 << 10
    /// How long a pipe without a writer, or one that says nothing, is waited for.
    package static let usualPatience = Duration.seconds(30)

    private let path: String
    private let patience: Duration

    package init(_ path: String, patience: Duration = usualPatience) {
        (self.path, self.patience) = (path, patience)
    }

    /// Whether the file can be read a second time, which a pipe cannot.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The first line, without white space around it.
    package func firstLine() throws(SecretSourceError) -> String {
        let bytes = try bytes { $0.contains(0x0A) }
        var line = Array(bytes.prefix { $0 != 0x0A }.drop { $0 <= 0x20 })
        while let last = line.last, last <= 0x20 { line.removeLast() }
        guard !line.isEmpty else {
            throw failure("has nothing on its first line", .writeFirstLine)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// The header fields in the file: one a line, `#` begins a remark.
    package func headerFields() throws(SecretSourceError) -> [HeaderField] {
        let lines = String(decoding: try bytes(), as: UTF8.self).split(whereSeparator: \.isNewline)
        var fields: [HeaderField] = []
        for line in lines where !line.allSatisfy(\.isWhitespace) && !line.hasPrefix("#") {
            do throws(ServiceError) {
                fields.append(try HeaderField(line: String(line)))
            } catch {
                throw failure("cannot be used: \(error.description)")
            }
        }
        return fields
    }

    /// Reads up to the limit, or until enough is there.
    package func bytes(
        until isEnough: ([UInt8]) -> Bool = { _ in false }
    ) throws(SecretSourceError) -> [UInt8] {
        // A named pipe that no process writes to would not even be opened.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            throw failure("cannot be opened: \(SystemError.last("open").reason)")
        }
        let descriptor = OwnedDescriptor(taking: number)
        try check(descriptor.number)
        do throws(SystemError) {
            // A pipe, as of <(pass show speech), comes in pieces.
            return try readAll(
                descriptor.number, limit: Self.limit, patience: patience, until: isEnough)
        } catch {
            switch error.code {
            case EFBIG: throw failure("is too long for a key")
            case ETIMEDOUT:
                let seconds = Int(patience / .seconds(1))
                throw failure(
                    "is a pipe from which nothing came for \(seconds) s", .writeToPipe)
            default: throw failure("cannot be read: \(error.reason)")
            }
        }
    }

    private func check(_ descriptor: Int32) throws(SecretSourceError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure("cannot be read: \(SystemError.last("fstat").reason)")
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw failure("is a folder") }
        guard kind == S_IFREG else { return }
        guard status.st_uid == geteuid() else { throw failure("belongs to another user") }
        guard status.st_mode & 0o077 == 0 else {
            throw failure("can be read by others", .closeToOthers(path: path))
        }
    }

    private func failure(
        _ reason: String, _ remedy: SecretSourceError.Remedy? = nil
    ) -> SecretSourceError {
        SecretSourceError(description: "'\(path)' \(reason)", remedy: remedy)
    }
}
