// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// Why libcurl cannot carry a request: what it refused, and its own reason.
struct CurlRefusal: Error, Equatable {
    let description: String

    /// libcurl has refused the value of an option.
    init(_ option: CURLoption, _ code: CURLcode) {
        let found = unsafe curl_easy_option_by_id(option)
        let name =
            unsafe found.map { unsafe String(cString: $0.pointee.name) } ?? "\(option.rawValue)"
        let reason = unsafe String(cString: curl_easy_strerror(code))
        description = "libcurl refuses CURLOPT_\(name): \(reason)"
    }

    /// libcurl has refused a whole transfer.
    init(_ code: CURLMcode) {
        description = "libcurl refuses: \(unsafe String(cString: curl_multi_strerror(code)))"
    }

    private init(_ description: String) { self.description = description }

    static let noMemory = CurlRefusal("libcurl has no memory")
}
