// SPDX-License-Identifier: Apache-2.0

/// A device that can be recorded from, or played on.
public struct CaptureDevice: Sendable, Hashable {
    /// The ALSA name, to be passed to `Microphone` or `Loudspeaker`.
    public let name: String

    /// What the device calls itself, in one line; empty when it says nothing.
    public let description: String

    /// The name of its sound card, or nil when it is not bound to one.
    package let card: String?

    /// Whether this is what `Microphone` takes when nothing is said.
    public var isDefault: Bool { name == "default" }

    package init(name: String, description: String, card: String? = nil) {
        self.name = name
        self.description = description
        self.card = card
    }
}
