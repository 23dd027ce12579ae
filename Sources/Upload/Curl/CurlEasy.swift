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
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe message.deallocate()
    }

    /// The C handle, for the multi handle's calls; not to be kept.
    var raw: UnsafeMutableRawPointer { unsafe handle }

    // MARK: - Options, of which libcurl takes each or ends the transfer

    /// Has libcurl say in its own words what goes wrong.
    func keepMessage() throws(CurlRefusal) {
        unsafe try set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(message))
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_long(handle, option, value))
    }

    /// Sets a length, which may be longer than a `long` is elsewhere.
    func setOffset(_ option: CURLoption, _ value: Int) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_offset(handle, option, curl_off_t(value)))
    }

    /// Sets a text, which libcurl copies; nil takes the default away.
    func set(_ option: CURLoption, _ value: String?) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_string(handle, option, value))
    }

    func set(_ option: CURLoption, _ context: UnsafeMutableRawPointer) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_pointer(handle, option, context))
    }

    func set(_ option: CURLoption, _ callback: utter_transfer_callback) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_callback(handle, option, callback))
    }

    func setPrerequest(_ callback: utter_prerequest_callback) throws(CurlRefusal) {
        try check(CURLOPT_PREREQFUNCTION, unsafe utter_setopt_prerequest(handle, callback))
    }

    func setSocketPreparation(_ callback: utter_socket_callback) throws(CurlRefusal) {
        try check(CURLOPT_SOCKOPTFUNCTION, unsafe utter_setopt_socket(handle, callback))
    }

    /// Sets the request's header lines; a line "Name:" takes a default header away.
    mutating func setHeaders(_ lines: [String]) throws(CurlRefusal) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headers, line) else { throw .noMemory }
            unsafe headers = longer
        }
        try check(CURLOPT_HTTPHEADER, unsafe utter_setopt_list(handle, CURLOPT_HTTPHEADER, headers))
    }

    private func check(_ option: CURLoption, _ code: CURLcode) throws(CurlRefusal) {
        guard code == CURLE_OK else { throw CurlRefusal(option, code) }
    }

    // MARK: - While it runs, and after

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
