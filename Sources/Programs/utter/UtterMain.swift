// SPDX-License-Identifier: Apache-2.0

import UtterCommands

@main
enum UtterMain {
    static func main() { Program.runUtter() }
}
