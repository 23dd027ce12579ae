// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// One libcurl easy handle with everything that must live as long as it does.
@safe struct CurlEasy: ~Copyable {
    private let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// Where libcurl writes what went wrong (`CURLOPT_ERRORBUFFER`).
    private let message: UnsafeMutablePointer<CChar>

    /// The corresponding C function is `curl_easy_init`; nil when memory ran out.
    init?() {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        _ = unsafe utter_setopt_pointer(handle, CURLOPT_ERRORBUFFER, message)
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe message.deallocate()
    }

    /// The C handle, for the multi handle's calls; not to be kept.
    var raw: UnsafeMutableRawPointer { unsafe handle }

    func set(_ option: CURLoption, _ value: Int) {
        _ = unsafe utter_setopt_long(handle, option, value)
    }

    func set(_ option: CURLoption, _ value: String) {
        // libcurl copies strings.
        _ = unsafe utter_setopt_string(handle, option, value)
    }

    func set(_ option: CURLoption, _ context: UnsafeMutableRawPointer) {
        _ = unsafe utter_setopt_pointer(handle, option, context)
    }

    func set(_ option: CURLoption, _ callback: utter_transfer_callback) {
        _ = unsafe utter_setopt_callback(handle, option, callback)
    }

    /// Trusts the certificates of a PEM file and no others.
    func trustOnly(certificatesIn file: String) {
        set(CURLOPT_CAINFO, file)
        // The system's folder would be trusted beside it.
        _ = unsafe utter_setopt_string(handle, CURLOPT_CAPATH, nil)
    }

    func setPrerequest(_ callback: utter_prerequest_callback) {
        _ = unsafe utter_setopt_prerequest(handle, callback)
    }

    func setSocketPreparation(_ callback: utter_socket_callback) {
        _ = unsafe utter_setopt_socket(handle, callback)
    }

    /// Sets the request's header lines; a line "Name:" takes a default header away.
    mutating func setHeaders(_ lines: [String]) {
        for line in lines { unsafe headers = curl_slist_append(headers, line) }
        _ = unsafe utter_setopt_list(handle, CURLOPT_HTTPHEADER, headers)
    }

    /// Lets the body flow again; harmless when it is not paused.
    func unpause() { _ = unsafe curl_easy_pause(handle, CURLPAUSE_CONT) }

    func offset(_ info: CURLINFO) -> Int { Int(unsafe utter_getinfo_offset(handle, info)) }

    func long(_ info: CURLINFO) -> Int { unsafe utter_getinfo_long(handle, info) }

    /// What went wrong: libcurl's own words, or its words for the code.
    func message(for code: CURLcode) -> String {
        let text = unsafe String(cString: message)
        return text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
    }
}
