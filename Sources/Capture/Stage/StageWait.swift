// SPDX-License-Identifier: Apache-2.0

/// What the next turn of a stage waits for.
enum StageWait {
    /// The source, which another thread opens.
    case opening
    /// What the source has said.
    case source(SourceWait)
    /// An empty ring, of which the journal tells.
    case journal
}
