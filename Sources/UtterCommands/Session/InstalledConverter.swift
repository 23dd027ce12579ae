// SPDX-License-Identifier: Apache-2.0

package import Capture

extension Converter {
    /// The installed converter; nil: none.
    package static var installed: Converter? {
        DesktopTool.path(of: "ffmpeg").map {
            Converter(path: $0) { ScrubbedEnvironment.entries() }
        }
    }
}
