// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

/// A take as one file of HTML that loads nothing: its wave, its sound, and the words by time.
struct TakePage {
    /// The sound of a page.
    enum Sound {
        /// Opus in Ogg, inside of the page.
        case inside([UInt8])
        /// A file beside the page.
        case beside(String)
    }

    private let manifest: TakeManifest
    private let service: String
    private let waveform: Waveform?
    private let sound: Sound?

    init(
        _ manifest: TakeManifest, service: String, waveform: Waveform?, sound: Sound?
    ) {
        (self.manifest, self.service) = (manifest, service)
        (self.waveform, self.sound) = (waveform, sound)
    }

    var html: String {
        let (style, script) = (
            Self.text(PackageResources.take_css), Self.text(PackageResources.take_js)
        )
        let values = [
            "title": HTMLText.escaped("Take of \(started)"),
            "language": HTMLText.escaped(manifest.language ?? "en"),
            "style": style, "style-hash": Self.hash(style),
            "script": script, "script-hash": Self.hash(script),
            "media": sound.map { if case .inside = $0 { "data:" } else { "'self' file:" } }
                ?? "'none'",
            "facts": facts, "sound": soundText, "text": text, "partials": partials,
            "attempts": attempts,
        ]
        // Each place is filled once: what a person has said is never taken for one.
        var (result, rest) = ("", Self.text(PackageResources.take_html)[...])
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            result +=
                rest[..<start]
                + (values[String(rest[start...].dropFirst().prefix { $0 != "}" })] ?? "")
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// As a policy names a script or a style (Content Security Policy Level 3 §2.3.1).
    private static func hash(_ text: String) -> String {
        var digest = SHA256()
        digest.update(Array(text.utf8).span)
        return Self.text(Base64.encoded(digest.bytes))
    }

    // MARK: - Parts

    private var started: String {
        // A date that cannot be read stands as it is written.
        (try? Date(manifest.created, strategy: .iso8601)).map { LocalTime($0).exact }
            ?? manifest.created
    }

    private var length: Double { waveform?.length ?? Double(manifest.frames ?? 0) / 16_000 }

    private static func clock(_ seconds: Double) -> String {
        StatusLine.clock(.milliseconds(Int((max(0, seconds) * 1_000).rounded())))
    }

    private var facts: String {
        var rows = [("State", manifest.state.rawValue), ("Service", service)]
        if let language = manifest.language { rows.append(("Language", language)) }
        rows.append(("Length", Self.clock(length)))
        if let waited = manifest.story?.waited {
            rows.append(("Answered", "\(waited) s after the last sound"))
        }
        let faults = (manifest.story?.faults ?? []) + [manifest.reason].compactMap(\.self)
        rows += faults.map { ("Note", $0) }
        rows.append(("Id", manifest.id.text))
        return rows.map { name, value in
            "<dt>\(name)</dt><dd>\(HTMLText.escaped(value))</dd>\n"
        }.joined()
    }

    private var soundText: String {
        guard let waveform else {
            return "<p class=\"hint\">The sound is not on the disk any more.</p>\n"
        }
        let source: String
        switch sound {
        case .inside(let bytes):
            source = "data:audio/ogg;base64," + Self.text(Base64.encoded(bytes))
        case .beside(let name): source = HTMLText.escaped(name)
        case nil: source = ""
        }
        let quarters = (0...4).map { "<span>\(Self.clock(length * Double($0) / 4))</span>" }
        let player =
            source.isEmpty
            ? "" : "<audio controls preload=\"metadata\" src=\"\(source)\"></audio>\n"
        return """
            <figure>
            \(TakePicture(manifest, waveform, length).svg)
            <div class="axis" aria-hidden="true">\(quarters.joined())</div>
            \(player)<figcaption>\(HTMLText.escaped(TakePicture.legend(manifest, waveform)))</figcaption>
            </figure>

            """
    }

    private var text: String {
        let said = manifest.transcript ?? ""
        guard !said.isEmpty else { return "<p id=\"words\">(heard nothing)</p>\n" }
        let timed = TimedText(said, manifest.story?.pieces ?? [])
        guard sound != nil, timed.parts.contains(where: { $0.start != nil }) else {
            return "<p id=\"words\">\(HTMLText.escaped(said))</p>\n"
        }
        let spans = timed.parts.map { part in
            let text = HTMLText.escaped(part.text)
            guard let start = part.start else { return text }
            let end = part.end.map { " data-to=\"\($0)\"" } ?? ""
            return "<span data-from=\"\(start)\"\(end)>\(text)</span>"
        }
        return
            "<p id=\"words\" tabindex=\"0\" role=\"group\" aria-labelledby=\"heard\" aria-describedby=\"how\">"
            + spans.joined() + "</p>\n"
            + "<p class=\"hint\" id=\"how\">Click a word to hear it. With the text in focus, the arrow keys go"
            + " from word to word, and Space plays and stops.</p>\n"
    }

    private var partials: String {
        let all = manifest.story?.partials ?? []
        let items = all.map {
            "<li><time>\(Self.clock($0.start ?? 0))</time> \(HTMLText.escaped($0.text))</li>\n"
        }
        return Self.list("Partial texts", items)
    }

    private var attempts: String {
        let items = (manifest.history ?? []).map { transfer in
            let ending = transfer.ending ?? "not known: the program died, or still runs"
            let status = transfer.status.map { " \($0)" } ?? ""
            return
                "<li value=\"\(transfer.number)\"><time>\(HTMLText.escaped(transfer.begun))</time> "
                + HTMLText.escaped("\(ending)\(status), to \(transfer.url ?? manifest.url)")
                + "</li>\n"
        }
        return Self.list("Requests", items)
    }

    private static func list(_ title: String, _ items: [String]) -> String {
        items.isEmpty
            ? ""
            : "<details><summary>\(title) (\(items.count))</summary>\n<ol>\n\(items.joined())</ol></details>\n"
    }
}
