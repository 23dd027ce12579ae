// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
internal import Utter

/// Tells the desktop, by `notify-send`, what a person should know who sees no terminal.
///
/// Every program on the desktop's bus can read it. So it names the service and the take and says the
/// way to the text, and holds no word that was said or that the service has answered. A take that is
/// encrypted, or is not to be kept, is not told of.
struct DesktopNotice {
    /// How long the program may take, for which nothing waits.
    private static let patience = Duration.seconds(5)

    private let take: TakeID
    private let service: String
    private var isTold = false

    /// Tells of a take of this session; nil where the person asked for it neither here nor for all.
    init?(_ take: Take, in session: TakeSession, isAsked: Bool = false) {
        guard isAsked || session.texts.notifies, session.pipeline.spool?.encrypts == false else {
            return nil
        }
        (self.take, service) = (take.id, take.delivery.serviceName)
    }

    /// Tells of a take that another process recorded; nil unless it is on this disk in the clear.
    init?(of name: String?) {
        // A take that cannot be read may be encrypted.
        guard let name, let kept = try? Spool(at: Environment.stateFolder).take(name),
            let plan = try? DeliveryPlan(of: kept)  // The same.
        else { return nil }
        (take, service) = (kept.id, plan.serviceName)
    }

    /// Tells of a recording, while it goes on, that it gets no text or is not kept.
    mutating func note(_ event: TakeEvent) {
        switch event {
        case .refused(let failure): tell(failure)
        case .noticed(.unprotected): send("take \(take.shortName) is not kept by the disk")
        default: break
        }
    }

    /// Tells once that there is no text, unless the person wants none.
    mutating func tell(_ failure: TakeFailure) {
        guard !isTold, !failure.isUnwanted, failure != .left else { return }
        isTold = true
        if case .capture = failure { return send("nothing was recorded for \(service)") }
        let words =
            switch failure.status {
            case .tokenRefused: "does not accept the token"
            case .refused: "refuses the recording"
            case .notDelivered: "is not reached, or does not answer"
            default: "gives no text"
            }
        send("\(service) \(words); send it again with: utter retry \(take.shortName)")
    }

    func tellUnplacedText() {
        send("the text by \(service) went nowhere; print it with: utter show \(take.shortName)")
    }

    /// Without the program, or a desktop, there is no place to tell it.
    private func send(_ text: String) {
        let name = "notify-send"
        guard let path = DesktopTool.path(of: name),
            // A program that does not start tells nothing.
            let process = try? ChildProcess(
                path, [name, "--app-name=utter", "--", "utter", Self.escaped(text)],
                environment: ScrubbedEnvironment.entries(), error: .nothing)
        else { return }
        let running = Mutex<ChildProcess?>(process)
        // Without a thread the program is killed here.
        _ = try? NamedThread(name: "notice") {
            running.withLock { process in
                // A program that does not end is killed.
                _ = try? process?.status(by: .now + Self.patience)
                process = nil
            }
        }
    }

    /// Without marks of Pango, which desktops and bars read in texts.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
