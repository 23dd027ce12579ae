// SPDX-License-Identifier: Apache-2.0

@testable import SpeechService

extension ShippedProfiles {
    /// Services that take uploads, of which there are cassettes.
    ///
    /// The others have doubles that hear (`SocketTakeTests`), and what is kept for Flux goes to Deepgram.
    static let uploading = names.filter { name in
        // A profile that cannot be read fails elsewhere.
        let url = (try? Profiles.shipped.profile(name))?.url.text ?? ""
        return !ServiceURL.namesSocket(url) && name != "deepgram-flux"
    }
}
