// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Utter

/// The wave of a take, and on the same line of time what has happened to it.
struct TakePicture {
    private static let (width, middle, height) = (1_000.0, 45.0, 120.0)

    private let manifest: TakeManifest
    private let waveform: Waveform
    private let length: Double

    /// `length` in seconds.
    init(_ manifest: TakeManifest, _ waveform: Waveform, _ length: Double) {
        (self.manifest, self.waveform, self.length) = (manifest, waveform, max(length, 0.001))
    }

    var svg: String {
        "<svg viewBox=\"0 0 1000 120\" preserveAspectRatio=\"none\" role=\"img\" data-length=\"\(length)\""
            + " aria-label=\"\(HTMLText.escaped(Self.legend(manifest, waveform)))\">\n"
            + wave + gaps + lines + requests
            + "<line id=\"cursor\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"92\"/>\n</svg>"
    }

    /// The same in words.
    static func legend(_ manifest: TakeManifest, _ waveform: Waveform) -> String {
        func count(_ number: Int, _ one: String, _ many: String) -> String? {
            number == 0 ? nil : number == 1 ? "1 \(one)" : "\(number) \(many)"
        }
        let parts = [
            count(manifest.story?.gaps.count ?? 0, "gap", "gaps"),
            count(
                waveform.clipped.count, "place cut off at full scale",
                "places cut off at full scale"),
            count(manifest.pauses?.count ?? 0, "pause", "pauses"),
            count(max(0, manifest.stretches.count - 1), "cut", "cuts"),
            count(manifest.history?.count ?? 0, "request", "requests"),
            count(manifest.story?.partials.count ?? 0, "partial text", "partial texts"),
        ].compactMap(\.self)
        return "The sound by time"
            + (parts.isEmpty ? "" : ", with " + parts.joined(separator: ", "))
    }

    /// The place in the picture of a time since the take began: a pause takes no room there.
    private func x(of began: Double) -> Double {
        let pauses = (manifest.pauses ?? []).map { pause in
            let start = Self.seconds(pause.begun, manifest)
            let end = pause.ended.map { Self.seconds($0, manifest) } ?? .infinity
            return max(0, min(began, end) - start)
        }
        return min(max(0, (began - pauses.reduce(0, +)) / length), 1) * Self.width
    }

    /// Since the take began; 0 of a time that cannot be read.
    private static func seconds(_ time: String, _ manifest: TakeManifest) -> Double {
        // It has no place of its own.
        guard let date = try? Date(time, strategy: .iso8601),
            let began = try? Date(manifest.created, strategy: .iso8601)  // The same.
        else { return 0 }
        return date.timeIntervalSince(began)
    }

    private func place(_ seconds: Double) -> String {
        number(min(max(0, seconds / length), 1) * Self.width)
    }

    private func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    private var wave: String {
        let count = waveform.peaks.count
        let bars = waveform.peaks.indices.map { part in
            let x = (Double(part) + 0.5) * Self.width / Double(count)
            let half = max(0.5, Double(waveform.height(of: part)) * Self.middle)
            return "M\(number(x)) \(number(Self.middle - half))v\(number(2 * half))"
        }
        let step = number(Self.width / Double(count) * 0.8)
        return "<path class=\"wave\" stroke-width=\"\(step)\" d=\"\(bars.joined())\"/>\n"
    }

    private var gaps: String {
        (manifest.story?.gaps ?? []).map { gap in
            let (start, end) = (gap.start ?? 0, gap.end ?? 0)
            let width = number(max(2, (end - start) / length * Self.width))
            return
                "<rect class=\"gap\" x=\"\(place(start))\" y=\"0\" width=\"\(width)\" height=\"90\"/>\n"
        }.joined()
    }

    /// Where it was cut off at full scale, has paused, was cut into stretches, and had a partial text.
    private var lines: String {
        func line(_ kind: String, _ seconds: Double, _ top: Int, _ bottom: Int) -> String {
            at(place(seconds), kind, top, bottom)
        }
        func at(_ x: String, _ kind: String, _ top: Int, _ bottom: Int) -> String {
            "<line class=\"\(kind)\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(top)\" y2=\"\(bottom)\"/>\n"
        }
        let part = length / Double(waveform.peaks.count)
        return waveform.clipped.map { line("clip", Double($0) * part, 0, 8) }.joined()
            + (manifest.pauses ?? []).map { line("pause", Double($0.frame) / 16_000, 0, 90) }
            .joined()
            + manifest.stretches.dropFirst().map { line("stretch", $0.beginning, 84, 104) }.joined()
            + (manifest.story?.partials ?? []).map {
                at(number(x(of: $0.start ?? 0)), "tick", 92, 98)
            }.joined()
    }

    /// A bar for each request, whose length is the time that the request took.
    private var requests: String {
        (manifest.history ?? []).map { transfer in
            let start = Self.seconds(transfer.begun, manifest)
            let end = transfer.ended.map { Self.seconds($0, manifest) } ?? start
            let (first, last) = (x(of: start), x(of: end))
            let isGood = transfer.status.map { (200..<300).contains($0) } ?? false
            return "<rect class=\"try\(isGood ? " good" : "")\" x=\"\(number(first))\" y=\"106\" "
                + "width=\"\(number(max(3, last - first)))\" height=\"8\"/>\n"
        }.joined()
    }
}
