// SPDX-License-Identifier: Apache-2.0

/// What a terminal shows after bytes were written to it: the few controls that `utter` may use.
struct Screen {
    /// The lines, the last one being where the cursor is.
    private(set) var lines = [""]
    /// Every state of the last line before it was cleared or left.
    private(set) var drawn: [String] = []
    /// Controls that are none of carriage return, line feed, erase line and colours.
    private(set) var strangeControls: [String] = []
    /// Colours that were set.
    private(set) var colours = 0
    private var pending = ""

    init(_ text: String) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": pending = ""
            case "\n": endLine()
            case "\u{1B}":
                let code = rest.prefix { !("a"..."z" ~= $0 || "A"..."Z" ~= $0) }
                rest = rest.dropFirst(code.count)
                let final = rest.popFirst().map { String($0) } ?? ""
                control(String(String.UnicodeScalarView(code)) + final)
            default:
                if scalar.value < 0x20 { strangeControls.append("\(scalar.value)") }
                lines[lines.count - 1].unicodeScalars.append(scalar)
            }
        }
        draw()
    }

    private mutating func control(_ code: String) {
        switch code {
        case "[2K":
            draw()
            lines[lines.count - 1] = ""
        case "[A":
            // Only the empty line below is left behind.
            strangeControls += lines.last == "" && lines.count > 1 ? [code] : ["misplaced [A"]
            lines.removeLast()
            if lines.isEmpty { lines = [""] }
        case _ where code.hasSuffix("m"): colours += 1
        default: strangeControls.append(code)
        }
    }

    private mutating func endLine() {
        draw()
        lines.append("")
    }

    private mutating func draw() {
        if let last = lines.last, !last.isEmpty { drawn.append(last) }
    }
}
