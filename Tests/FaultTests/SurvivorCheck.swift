// SPDX-License-Identifier: Apache-2.0

import AudioCodecs
import FoundationEssentials
import TestSupport

@testable import Utter

/// What must hold when a program has died, whatever it was doing: one check for all deaths.
struct SurvivorCheck {
    let bench: FaultBench
    /// Bytes that are known to have been written to the audio of each take.
    var written: [String: [UInt8]] = [:]
    /// Whether foreign programs have to play the recording, too.
    var asksPlayers = false
    /// Whether the program itself recovers, lists and sends, which takes three starts of it.
    ///
    /// Otherwise this process does so with the library that the commands call.
    var asksProgram = true

    private struct Row: Decodable {
        var id: String
        var state, unreadable: String?
    }

    /// Recovers what is left, sends it, and tells what is wrong with it.
    func problems() async throws -> [String] {
        var problems: [String] = []
        let dead = try bench.remains()
        for (id, bytes) in written where !bytes.isEmpty {
            problems += missing(bytes, in: dead.first { $0.id == id }, id)
        }
        let rings = RingFolder.names(ofSpool: bench.stateFolder)
        let behind = dead.filter { $0.audio != nil && isBehind($0) }.map(\.id)
        problems += try await afterRecovery(of: dead, rings)
        // A ring has had the rest.
        let stillBehind = try bench.takes().filter { isBehind($0) }.map(\.id)
        for id in behind where !rings.contains(id) || stillBehind.contains(id) {
            problems.append("\(id): the server has bytes that the disk has not")
        }
        problems += try await afterDelivery()
        return problems
    }

    /// Whether the server has bytes that the disk has not.
    private func isBehind(_ take: TakeOnDisk) -> Bool {
        let sent = WholeAudio.body(of: take.audio ?? [], format: format(of: take))
        return !bench.requests(for: take.id).allSatisfy { request in
            let body = WholeAudio.unnumbered(request.body)
            // Without a manifest it is not known whether a header was sent.
            let isFile = take.manifest == nil && take.audio?.starts(with: body) == true
            return isFile || sent.starts(with: body)
        }
    }

    private func format(of take: TakeOnDisk) -> String {
        if let format = take.manifest?.format { return format }
        let formats = ["audio.ogg": "ogg-opus", "audio.flac": "flac"]
        return formats[take.audioName] ?? "pcm"
    }

    private func hasSound(_ take: TakeOnDisk) -> Bool {
        WholeAudio.hasSound(take.audio ?? [], named: take.audioName)
    }

    private func missing(_ bytes: [UInt8], in take: TakeOnDisk?, _ id: String) -> [String] {
        guard let take else { return ["\(id): the take is gone"] }
        guard let audio = take.audio else {
            return take.manifest?.state == "answered" ? [] : ["\(id): the audio is gone"]
        }
        return audio.starts(with: bytes) ? [] : ["\(id): \(bytes.count) bytes written, not there"]
    }

    // MARK: - utter list

    /// What `utter list` shows once it has recovered what is left, and what is wrong with that.
    private func list() async throws -> (rows: [Row], problems: [String]) {
        guard asksProgram else { return try await onOwnThread { Result { try listed() } }.get() }
        var problems: [String] = []
        let list = try await bench.run(["list", "--json"])
        let state = try bench.snapshot()
        let again = try await bench.run(["list", "--json"])
        if list.status != .exited(0) || again.status != .exited(0) {
            problems.append("list ended with \(list.status), \(list.errorText)")
        }
        if try bench.snapshot() != state { problems.append("the second list changed something") }
        if list.output != again.output { problems.append("the second list shows something else") }
        let rows =
            list.output.isEmpty ? [] : try JSONDecoder().decode([Row].self, from: Data(list.output))
        return (rows, problems)
    }

    /// The same without the program.
    private func listed() throws -> (rows: [Row], problems: [String]) {
        let spool = Spool(at: bench.stateFolder)
        try spool.recover()
        let state = try bench.snapshot()
        try spool.recover()
        let isSame = try bench.snapshot() == state
        let rows = try spool.takes().map { take in
            Row(
                id: take.id.text, state: take.state.rawValue,
                unreadable: take.known == nil ? take.reason ?? "unreadable" : nil)
        }
        return (rows, isSame ? [] : ["the second recovery changed something"])
    }

    private func afterRecovery(
        of dead: [TakeOnDisk], _ rings: Set<String>
    ) async throws -> [String] {
        var (rows, problems) = try await list()
        let recovered = try bench.takes()
        for take in dead {
            guard let audio = take.audio else { continue }
            guard hasSound(take) else { continue }
            let whole = WholeAudio.prefix(of: audio, named: take.audioName)
            let row = rows.first { $0.id == take.id }
            if row == nil { problems.append("\(take.id) is not in the list") }
            if let why = row?.unreadable { problems.append("\(take.id): \(why)") }
            guard let now = recovered.first(where: { $0.id == take.id }) else {
                problems.append("\(take.id): list has removed it")
                continue
            }
            problems += try wrongs(of: now, whole: whole, hadRing: rings.contains(take.id))
        }
        return problems
    }

    private func wrongs(
        of take: TakeOnDisk, whole: [UInt8], hadRing: Bool
    ) throws -> [String] {
        guard let manifest = take.manifest else { return ["\(take.id): has no take.json"] }
        if manifest.state == "answered" {
            return manifest.transcript == FaultBench.transcript
                ? [] : ["\(take.id): answered, without its transcript"]
        }
        guard let audio = take.audio else { return ["\(take.id): list has deleted the audio"] }
        var problems: [String] = []
        if manifest.state == "recording" { problems.append("\(take.id): still recording") }
        // Behind a block that never came to the disk, later ones may have; silence stands for it.
        let fillsHoles = [".flac", ".ogg"].contains { take.audioName.hasSuffix($0) }
        let sound = audio.dropFirst(WholeAudio.headerByteCount)
        // The ring had more of what was said.
        let isMore = hadRing && audio.starts(with: whole) && bench.samples.starts(with: sound)
        if fillsHoles ? !audio.starts(with: whole) : audio != whole && !isMore {
            problems.append("\(take.id): \(audio.count) bytes kept of \(whole.count) whole ones")
        }
        if manifest.byteCount != audio.count {
            problems.append("\(take.id): byteCount \(manifest.byteCount ?? -1) of \(audio.count)")
        }
        if asksPlayers { problems += Players.complaints(about: audio, named: take.audioName) }
        return problems
    }

    // MARK: - utter retry

    /// Sends takes, and says what is wrong with that.
    private func retry(_ takes: [TakeOnDisk]) async throws -> [String] {
        guard !asksProgram else {
            let retry = try await bench.run(
                ["retry", "--to", bench.server.url()] + takes.map(\.id))
            return retry.status == .exited(0)
                ? [] : ["retry ended with \(retry.status), \(retry.errorText)"]
        }
        var problems: [String] = []
        var retention = Retention.standard
        retention.audio = .zero
        let spool = Spool(at: bench.stateFolder, retention: retention)
        let pipeline = try Pipeline(spool: spool)
        let service = try RecognitionService(url: ServiceURL(bench.server.url()))
        for kept in try spool.takes() where takes.contains(where: { $0.id == kept.id.text }) {
            let format = AudioCodec(rawValue: kept.known?.format ?? "") ?? .pcm
            // One whose manifest was lost does not know where it was meant to go.
            let known = try? DeliveryPlan(of: kept)
            var plan = known ?? DeliveryPlan(service: service, format: format)
            plan.service.url = service.url
            let take = try await pipeline.resend(kept, by: plan)
            if case .failure(let failure) = await take.outcome.result {
                problems.append("\(take.id.text): resent, with \(failure)")
            }
            take.release()
        }
        let isOnDisk = Gate()
        pipeline.sync.perform { isOnDisk.open() }
        if await !isOnDisk.wait() { problems.append("the disk does not answer") }
        pipeline.shutDown()
        return problems
    }

    private func afterDelivery() async throws -> [String] {
        var problems: [String] = []
        let waiting = try bench.takes().filter { take in
            take.manifest?.state != "answered" && hasSound(take)
        }
        let requestCount = bench.server.requests.count
        if !waiting.isEmpty { problems += try await retry(waiting) }
        for take in waiting {
            let request = bench.requests(for: take.id).last
            let wanted = WholeAudio.body(of: take.audio ?? [], format: format(of: take))
            if bench.server.requests.count == requestCount
                || request.map({ WholeAudio.unnumbered($0.body) }) != wanted
            {
                problems.append(
                    "\(take.id): \(request?.body.count ?? -1) of \(wanted.count) bytes delivered")
            }
            let whole = bench.requests(for: take.id).dropLast().filter(\.isComplete).count
            if whole > 0, request?["Utter-Attempt"] == "1" {
                problems.append("\(take.id): sent again without being marked")
            }
        }
        for take in try bench.takes() where hasSound(take) || take.audio == nil {
            guard let manifest = take.manifest else {
                if hasSound(take) { problems.append("\(take.id): no take.json") }
                continue
            }
            if manifest.state != "answered" || manifest.transcript != FaultBench.transcript {
                problems.append("\(take.id): \(manifest.state) after retry")
            }
            // A program that was killed after the answer may not have deleted the audio.
            let known = ["take.json", take.audioName]
            if !Set(take.names).isSubset(of: known) {
                problems.append("\(take.id): left behind after the answer: \(take.names)")
            }
        }
        return problems
    }
}
