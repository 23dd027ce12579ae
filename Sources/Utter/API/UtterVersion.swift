// SPDX-License-Identifier: Apache-2.0

/// The version of this package.
public enum UtterVersion {
    /// As in the change log, such as "0.1.0".
    public static let text = "0.1.0"
}
