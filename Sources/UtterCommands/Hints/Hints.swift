// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// What a person can do about an error, in the words of the command line.
///
/// The libraries say what happened and why. Options, commands and variables stand here alone, in
/// one file for each family of errors. A hint is nil when nothing helps.
package enum Hints {
    static func of(_ error: SystemError) -> String? {
        guard error.isOfLimit else { return nil }
        return switch error.code {
        case EMFILE: "raise the limit with: ulimit -n 256"
        case ENFILE: "too many files are open on this machine; end other programs"
        case ENOMEM: "end other programs, or raise the limit with: ulimit -v unlimited"
        default: "raise the limits with: ulimit -u unlimited; ulimit -v unlimited"
        }
    }
}

extension Hints {
    /// What to do about a file or folder that cannot be opened, written or made.
    package static func ofFile(_ error: SystemError) -> String? {
        switch error.code {
        case ENOENT, ENOTDIR: "check the name, and that its folder is there"
        case EACCES, EPERM: "check whose it is, and who may use it, with: ls -ld"
        case EROFS, ENOSPC, EDQUOT: "name a place on another disk"
        case EISDIR: "name a file in it"
        default: of(error)
        }
    }

    /// What to do where no release of a key is reported.
    static let noReleases =
        "leave --hold and --key away and press Space or Enter, or use a terminal with the kitty "
        + "keyboard protocol, without tmux or screen"
}
