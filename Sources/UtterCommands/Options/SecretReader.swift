// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Utter

/// Fetches secrets from where they come from: the environment, files and commands.
enum SecretReader {
    /// A secret that is there.
    enum Value {
        case read(String)
        /// A command prints it, which may ask the person: the pipeline runs it while the take records.
        case asked

        /// The secret; nil for one that is asked for.
        var text: String? { if case .read(let text) = self { text } else { nil } }
    }

    private static let read = Mutex<[Int32: Result<String, CommandFailure>]>([:])

    /// Reads the first line of a file of one's own.
    static func file(_ path: String, option: String) throws(CommandFailure) -> String {
        try SecretFile.read(path, option: option)
    }

    /// Runs a command, and takes the first line that it prints.
    ///
    /// Blocks until its end, or that of the loan.
    static func command(
        _ text: String, option: String, isRefused: Bool = false, loan: TerminalLoan? = nil
    ) throws(CommandFailure) -> String {
        var output = try SecretCommand(text, option: option)
            .output(isRefused: isRefused, loan: loan)
        defer { output.clear() }
        let line = String(decoding: output.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard line.isEmpty else { return line }
        throw CommandFailure(
            "\(option): the command prints nothing in its first line",
            hint: "try it by itself: sh -c \(ShellWord.quoted(text))", status: .configuration)
    }

    /// Reads the first line of what systemd has given the process under a name
    /// (`LoadCredential=`, systemd.exec(5)).
    ///
    /// - Returns: the secret; nil when there is none of that name, with the reason in `why`.
    static func credential(
        _ name: String, option: String, why: inout String
    ) throws(CommandFailure) -> String? {
        guard !name.isEmpty, !name.contains("/"), name != ".." else {
            throw CommandFailure(
                "\(option): '\(TerminalText.shown(name))' is no name of a credential",
                status: .configuration)
        }
        guard let folder = Environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
            why = "systemd has given this process no credentials"
            return nil
        }
        guard SecretFile.isRegular("\(folder)/\(name)") else {
            why = "systemd has given this process no credential '\(TerminalText.shown(name))'"
            return nil
        }
        return try file("\(folder)/\(name)", option: option)
    }

    /// Reads the first line of what stands behind a descriptor that the process was started with.
    static func descriptor(_ number: Int32, option: String) throws(CommandFailure) -> String {
        if let known = read.withLock({ $0[number] }) { return try known.get() }
        let result = Result { () throws(CommandFailure) in
            try SecretFile.read("/dev/fd/\(number)", option: option)
        }
        read.withLock { $0[number] = result }
        return try result.get()
    }

    /// Fetches a secret from where a service's description says that it is.
    ///
    /// - Returns: the secret; nil when it is not there, with the reason in `why`.
    static func value(
        from source: SecretSource, why: inout String
    ) throws(CommandFailure) -> Value? {
        switch source {
        case .variable(let name):
            why = "\(name) is not set"
            return Environment.secret(name).map { .read($0) }
        case .file(let path), .headerFile(let path):
            return .read(try file(path, option: "token file"))
        case .command: return .asked
        case .credential(let name):
            return try credential(name, option: "token credential", why: &why).map { .read($0) }
        case .given, .pipe:
            why = "none was given"
            return nil
        }
    }

    /// Reads the header fields of a file of one's own: one a line, `#` begins a remark.
    static func headerFile(_ path: String) throws(CommandFailure) -> [HeaderField] {
        let option = "--header @\(path)"
        let bytes = try SecretFile.bytes(of: path, option: option)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        var fields: [HeaderField] = []
        for line in lines where !line.allSatisfy(\.isWhitespace) && !line.hasPrefix("#") {
            do throws(ServiceError) {
                fields.append(try HeaderField(line: String(line)))
            } catch {
                throw CommandFailure(error, in: option)
            }
        }
        guard !fields.isEmpty else {
            throw CommandFailure(
                "\(option): there is no header field in the file",
                hint: "write one a line, such as 'xi-api-key: …'", status: .configuration)
        }
        return fields
    }

    /// Fetches a secret that a take remembers by its source.
    ///
    /// - Returns: the secret; nil when it cannot be had here, with the reason in `why`.
    static func value(
        of secret: DeliveryRecord.Secret, why: inout String
    ) throws(CommandFailure) -> Value? {
        switch secret.source {
        case .given, .pipe:
            why = "it was typed or piped, and is not kept"
            return nil
        case .file(let path) where !SecretFile.isRegular(path),
            .headerFile(let path) where !SecretFile.isRegular(path):
            why = "the file '\(path)' is not there any more"
            return nil
        case .file, .command, .credential: return try value(from: secret.source, why: &why)
        case .headerFile(let path):
            let field = try headerFile(path).first { $0.isNamed(secret.header ?? "") }
            why = "the file '\(path)' does not hold it any more"
            return field.map { .read($0.value) }
        case .variable(ServiceVariables.urlName):
            return variableParameter(secret, why: &why).map { .read($0) }
        case .variable(let name):
            if name == ServiceVariables.tokenName, let origin = foreignOrigin(than: secret.origin) {
                why = "\(name) belongs to \(origin), where \(ServiceVariables.urlName) leads"
                return nil
            }
            return try value(from: secret.source, why: &why)
        }
    }

    /// A query parameter of `UTTER_URL`, as long as that leads to the same origin.
    private static func variableParameter(
        _ secret: DeliveryRecord.Secret, why: inout String
    ) -> String? {
        let name = ServiceVariables.urlName
        if let origin = foreignOrigin(than: secret.origin) {
            why = "it was in \(name), which leads to \(origin) now"
            return nil
        }
        why = "it was in \(name), which does not hold it any more"
        // One that cannot be read has been sorted out above.
        let url = ServiceVariables.url.flatMap { try? ServiceURL(TokenMark(in: $0).url) }
        return url?.parameter(secret.query ?? "").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Where the variables lead, unless that is the origin or nowhere.
    private static func foreignOrigin(than origin: String) -> String? {
        switch ServiceVariables.origin {
        case nil: nil
        case .success(let other)?: other.description == origin ? nil : other.description
        case .failure?: "another place"
        }
    }
}
