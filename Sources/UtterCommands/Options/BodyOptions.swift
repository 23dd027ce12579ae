// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Utter

/// What stands around the audio in the request's body.
///
/// What is not given is nil: a kept take has its own.
struct BodyOptions: ParsableArguments {
    /// The shapes that have names of their own.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case raw, form
    }

    init() {}

    @Option(
        help: ArgumentHelp(
            "Send a form, as OpenAI-style services want, with this field, such as model=whisper-1; "
                + "the audio is its last field.", valueName: "name=value"))
    var form: [String] = []

    @Option(
        help: ArgumentHelp("The form's field of the audio. (default: file)", valueName: "name"))
    var fileField: String?

    @Option(
        help: ArgumentHelp(
            "The audio's file name in the form. (default: audio.wav, by its format)",
            valueName: "name"))
    var fileName: String?

    @Option(
        help: ArgumentHelp(
            #"Send this JSON, in which {audio} stands for the audio in base64, such as "#
                + #"'{"audio":{"content":"{audio}"}}'."#, valueName: "template"))
    var jsonBody: String?

    @Option(
        help: ArgumentHelp(
            "Send the audio alone (raw), or a form. (default: raw, unless an option of a form or "
                + "--json-body is given)", valueName: "kind"))
    var body: Kind?

    private var isOfForm: Bool { !form.isEmpty || fileField != nil || fileName != nil }

    var isGiven: Bool { isOfForm || jsonBody != nil || body != nil }

    mutating func validate() throws {
        let excluded: [(isGiven: Bool, name: String)] = [
            (!form.isEmpty, "--form"), (fileField != nil, "--file-field"),
            (fileName != nil, "--file-name"),
        ]
        if let other = excluded.first(where: \.isGiven)?.name {
            if jsonBody != nil { throw ValidationError("--json-body excludes \(other).") }
            if body == .raw { throw ValidationError("--body raw excludes \(other).") }
        }
        if jsonBody != nil, body != nil { throw ValidationError("--json-body excludes --body.") }
    }

    /// Applies these options.
    func change(_ plan: inout DeliveryPlan, keepsFormat: Bool) throws(CommandFailure) {
        let old = plan.service.body
        plan.service.body = try changed(old)
        guard !plan.service.body.isAlike(old) else { return }
        // The old type said what the body was before.
        plan.service.contentType = nil
        plan.service.headers.removeAll { $0.isNamed("Content-Type") }
        // Where nothing else names the rate, the audio does itself.
        if plan.format == .pcm, plan.service.body != .raw, !keepsFormat { plan.format = .wav }
    }

    /// The shape that these options make of the one before.
    ///
    /// A field replaces those of its name that the form had.
    private func changed(_ old: BodyShape) throws(CommandFailure) -> BodyShape {
        if let jsonBody {
            return .json(
                try explained("--json-body") { () throws(ServiceError) in
                    try JSONTemplate(jsonBody)
                })
        }
        if body == .raw { return .raw }
        guard isOfForm || body == .form else { return old }
        var before: AudioForm?
        if case .form(let form) = old { before = form }
        let fields = try explained("--form") {
            () throws(ServiceError) in
            try form.map { text throws(ServiceError) in try AudioForm.Field(text) }
        }
        let kept = (before?.fields ?? []).filter { field in
            !fields.contains { $0.name == field.name }
        }
        let named =
            fileField?.isEmpty == true
            ? "--file-field" : fileName?.isEmpty == true ? "--file-name" : "--form"
        return .form(
            try explained(named) { () throws(ServiceError) in
                try AudioForm(
                    fields: kept + fields,
                    fileField: fileField ?? before?.fileField ?? AudioForm.usualFileField,
                    fileName: fileName ?? before?.fileName)
            })
    }
}

extension BodyShape {
    /// Whether both are forms, both documents, or both nothing.
    fileprivate func isAlike(_ other: BodyShape) -> Bool {
        switch (self, other) {
        case (.raw, .raw), (.form, .form), (.json, .json): true
        default: false
        }
    }
}
