// SPDX-License-Identifier: Apache-2.0

public import Capture
package import TakeStore

/// Everything that is decided before a take begins.
public struct TakePlan: Sendable {
    /// Makes the place where the voice comes from; called once, when the take begins.
    public var source: @Sendable () -> any CaptureSource
    /// How long the recording may and must be.
    public var capture: CapturePlan
    /// Where it goes.
    public var delivery: DeliveryPlan
    /// Whether the recording is complete so soon that it is sent with its length then, unless the
    /// delivery's framing is chunked: as for a file that is read at full speed.
    ///
    /// A server that knows no chunked bodies could take a short one for empty, and answer at once;
    /// by then all may be on its way, and nothing tells that answer from a good one.
    public var isCompleteSoon = false
    /// The take's name; nil makes a new one.
    package var id: TakeID?

    /// Creates a plan from its parts; the take makes its source.
    public init(
        source: @autoclosure @escaping @Sendable () -> any CaptureSource,
        capture: CapturePlan = CapturePlan(), delivery: DeliveryPlan
    ) {
        self.source = source
        self.capture = capture
        self.delivery = delivery
    }

    /// Creates a plan of a take to a service; the take makes its source.
    public init(
        source: @autoclosure @escaping @Sendable () -> any CaptureSource, service: Service,
        capture: CapturePlan = CapturePlan()
    ) {
        self.init(source: source(), capture: capture, delivery: service.delivery)
    }
}
