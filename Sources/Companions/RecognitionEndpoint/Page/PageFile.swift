// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// A file of the endpoint's page, by its path; none of them has a secret, or loads anything of another host.
enum PageFile: String, CaseIterable {
    case document = "/"
    case style = "/page.css"
    case script = "/page.js"
    /// Runs on the browser's thread of sound.
    case microphone = "/page-microphone.js"

    var bytes: [UInt8] {
        switch self {
        case .document: PackageResources.page_html
        case .style: PackageResources.page_css
        case .script: PackageResources.page_js
        case .microphone: PackageResources.page_microphone_js
        }
    }

    private var mediaType: String {
        switch self {
        case .document: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .script, .microphone: "text/javascript; charset=utf-8"
        }
    }

    var head: HTTPResponse {
        var head = HTTPResponse.make(200, mediaType, byteCount: bytes.count)
        for (name, value) in Self.fields { head.headerFields[named: name] = value }
        return head
    }

    /// The page runs its own scripts and asks its own endpoint; no other page shows it in a frame, and none
    /// learns that it was here.
    private static let fields = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                + "img-src data:; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "microphone=(self)"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ]
}
