// SPDX-License-Identifier: Apache-2.0

extension Hints {
    /// What to do where no release of a key is reported.
    static let noReleases =
        "leave --hold and --key away and press Space or Enter, or use a terminal with the kitty "
        + "keyboard protocol, without tmux or screen"
}
