// SPDX-License-Identifier: Apache-2.0

/// Why the desktop does not tell of a key.
package enum PortalError: Error, Equatable {
    /// The session has no bus, or no portal for global shortcuts.
    case absent(String)
    /// The person has said no.
    case declined
    /// The portal refuses, and does not say more than that.
    case refused(String)
    /// The portal has not answered in time.
    case silent(String)
    /// The portal has ended the session.
    case closed
    /// The bus has ended.
    case broken(String)
}

extension PortalError: CustomStringConvertible {
    /// What happened and why, in one line.
    package var description: String {
        switch self {
        case .absent(let reason): "this session has no portal for global shortcuts: \(reason)"
        case .declined: "the shortcut was declined"
        case .refused(let reason): "the portal for global shortcuts refuses: \(reason)"
        case .silent(let what): "the portal for global shortcuts does not answer: \(what)"
        case .closed: "the desktop has ended the session of the shortcut"
        case .broken(let reason): "the session's bus has ended: \(reason)"
        }
    }
}
