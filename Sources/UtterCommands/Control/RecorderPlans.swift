// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import LinuxPlatform
internal import Utter
internal import UtterControl
internal import UtterSettings

/// Makes the plans of takes, one after the other, and keeps ready what they need.
///
/// Settings and secrets are read for the first take, and again once the file of settings has changed
/// or the service has refused the token. Touched by one thread at a time, under a lock of
/// `Recorder`.
struct RecorderPlans {
    private let options: RecorderOptions
    /// How much a microphone that is always open remembers; nil is one that is opened for each take.
    private let preRoll: Duration?
    /// How all takes of the recorder are stored, as it was said when it began.
    private let storage: [String: String]

    /// By the names of the service and of the preset that a request names; nil: the usual ones.
    private var deliveries: [[String?]: DeliveryPlan] = [:]
    /// The files of the settings and of the words, as they were read.
    private var marks: [FileMark?] = []
    private var keeper: (source: (device: String, period: Duration?), preRoll: PreRoll)?

    init(_ options: RecorderOptions, preRoll: Duration?) throws(CommandFailure) {
        (self.options, self.preRoll, storage) = (options, preRoll, try options.storage)
    }

    /// Makes the plan of a take for the service and the preset of a request, or else the usual ones.
    ///
    /// - Returns: the plan, and how long the take's audio stays; nil if the settings of all takes decide.
    mutating func next(
        for request: ControlRequest?
    ) throws(CommandFailure) -> (plan: TakePlan, audioTime: Duration?) {
        forgetChanged()
        guard let preset = request?.preset else {
            return (try next(for: request?.service, nil), try options.keep.audioTime)
        }
        let known = KnownConfiguration.current.choosing(preset)
        // Its errors are those of the closure.
        var taken = try KnownConfiguration.$current.withValue(known) {
            Result { () throws(CommandFailure) in
                try checkStorage(preset)
                return (try next(for: request?.service, preset), try options.keep.audioTime)
            }
        }.get()
        // A preset's command is for those who press here.
        if request?.begun == nil { taken.0.delivery.filter = try TextSettings.filter() }
        return taken
    }

    /// Refuses a preset by which takes would be stored in another way than the recorder stores all.
    private func checkStorage(_ preset: String) throws(CommandFailure) {
        let settings = try Configuration.current()
        let other = try options.storage.filter { name, text in
            settings[name]?.isOfPreset == true && text != storage[name]
        }
        guard let name = other.keys.min() else { return }
        let shown = TerminalText.shown(preset)
        throw CommandFailure(
            "the preset '\(shown)' says \(name), and the utter that records stores all takes as it "
                + "was told when it began",
            hint: "begin that one with the preset, such as: utter daemon --preset \(shown)",
            status: .usage)
    }

    private mutating func next(
        for service: String?, _ preset: String?
    ) throws(CommandFailure) -> TakePlan {
        var delivery = try delivery(for: service, preset)
        delivery.reportsProgress = true
        ServiceOptions.complete(&delivery)
        guard let kept = keeper?.preRoll else { return try options.voice.takePlan(for: delivery) }
        return TakePlan(source: kept, capture: try options.voice.plan(), delivery: delivery)
    }

    /// Keeps ready what the next take needs.
    mutating func prepare() throws(CommandFailure) {
        forgetChanged()
        _ = try delivery(for: nil, nil)
    }

    /// Has settings and words read again that have changed; before a preset counts.
    private mutating func forgetChanged() {
        // A setting that cannot be read is told when it is asked for.
        let words = (try? TextSettings.path()) ?? TextSettings.usualPath
        let now = [ConfigurationFile.path, words].map { FileMark($0, followsLinks: true) }
        if now != marks {
            Configuration.forget()
            deliveries = [:]
        }
        marks = now
    }

    private mutating func delivery(
        for service: String?, _ preset: String?
    ) throws(CommandFailure) -> DeliveryPlan {
        try keepMicrophone()
        if let delivery = deliveries[[service, preset]] { return delivery }
        let made = try options.serving(service, preset).delivery()
        deliveries[[service, preset]] = made
        return made
    }

    /// Has secrets read again for the next take.
    mutating func forgetSecrets() { deliveries = [:] }

    mutating func shutDown() {
        keeper?.preRoll.shutDown()
        keeper = nil
    }

    private mutating func keepMicrophone() throws(CommandFailure) {
        guard let preRoll else { return }
        let source = try options.voice.microphone.source()
        // After a driver that hung the device is opened anew.
        guard keeper.map({ $0.source != source || $0.preRoll.isOver }) ?? true else { return }
        keeper?.preRoll.shutDown()
        keeper = nil
        let (device, period) = source
        let kept = try orFailure {
            try PreRoll(DeviceHost.microphone(device, period: period), length: preRoll)
        }
        keeper = (source, kept)
    }
}
