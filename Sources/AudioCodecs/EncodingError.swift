// SPDX-License-Identifier: Apache-2.0

/// Why audio could not be encoded.
public enum EncodingError: Error, Sendable, Equatable {
    /// A call of the codec failed; `reason` is the library's word for it.
    case codecFailed(operation: String, reason: String)
    /// A setting is outside its range; `detail` names both.
    case unsupportedSetting(detail: String)
}

extension EncodingError: CustomStringConvertible {
    /// What happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .codecFailed(let operation, let reason):
            "encoding failed: \(operation): \(reason)"
        case .unsupportedSetting(let detail):
            "cannot encode: \(detail)"
        }
    }
}
