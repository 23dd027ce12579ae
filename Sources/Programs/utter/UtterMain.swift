// SPDX-License-Identifier: Apache-2.0

import UtterCommands

/// The program `utter`.
@main
enum UtterMain {
    static func main() { Program.runUtter() }
}
