// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import LinuxPlatform

/// A libcurl easy handle, and the memory that libcurl uses until the handle is freed.
@safe struct CurlEasy: ~Copyable {
    private let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var resolutions: UnsafeMutablePointer<curl_slist>?
    /// `CURLOPT_ERRORBUFFER`.
    private let message: UnsafeMutablePointer<CChar>
    private var isDebugging = false
    /// Freed after the handle.
    private var jar: CookieJar?

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
        unsafe curl_slist_free_all(resolutions)
        unsafe message.deallocate()
    }

    /// For the multi handle's calls; not to be kept.
    var raw: UnsafeMutableRawPointer { unsafe handle }

    // MARK: - Options, of which libcurl takes each or ends the transfer

    func keepMessage() throws(CurlRefusal) {
        unsafe try set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(message))
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_long(handle, option, value))
    }

    /// For options of type `curl_off_t`.
    func setOffset(_ option: CURLoption, _ value: Int) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_offset(handle, option, curl_off_t(value)))
    }

    /// libcurl copies the text; nil takes the default away.
    func set(_ option: CURLoption, _ value: String?) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_string(handle, option, value))
    }

    private func set(
        _ option: CURLoption, _ context: UnsafeMutableRawPointer
    ) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_pointer(handle, option, context))
    }

    private func set(
        _ option: CURLoption, _ callback: utter_transfer_callback
    ) throws(CurlRefusal) {
        try check(option, unsafe utter_setopt_callback(handle, option, callback))
    }

    /// A line "Name:" takes a default header away.
    mutating func setHeaders(_ lines: [String]) throws(CurlRefusal) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headers, line) else { throw .noMemory }
            unsafe headers = longer
        }
        try check(CURLOPT_HTTPHEADER, unsafe utter_setopt_list(handle, CURLOPT_HTTPHEADER, headers))
    }

    /// Each as `HOST:PORT:ADDRESS`.
    mutating func setResolutions(_ lines: [String]) throws(CurlRefusal) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(resolutions, line) else { throw .noMemory }
            unsafe resolutions = longer
        }
        try check(
            CURLOPT_RESOLVE, unsafe utter_setopt_list(handle, CURLOPT_RESOLVE, resolutions))
    }

    mutating func join(_ jar: CookieJar) throws(CurlRefusal) {
        self.jar = jar
        unsafe try set(CURLOPT_SHARE, jar.handle)
        // Turns cookies on, and reads none.
        try set(CURLOPT_COOKIEFILE, "")
    }

    /// Has libcurl call the functions of `TransferCallbacks` with the context.
    mutating func setCallbacks(
        _ context: UnsafeMutableRawPointer, asksForAddresses: Bool
    ) throws(CurlRefusal) {
        let contexts = [
            CURLOPT_SOCKOPTDATA, CURLOPT_READDATA, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA,
            CURLOPT_PREREQDATA, CURLOPT_DEBUGDATA,
        ]
        for option in contexts { unsafe try set(option, context) }
        try check(CURLOPT_SOCKOPTFUNCTION, unsafe utter_setopt_socket(handle, prepareSocket))
        unsafe try set(CURLOPT_READFUNCTION, readBody)
        unsafe try set(CURLOPT_WRITEFUNCTION, writeResponse)
        unsafe try set(CURLOPT_HEADERFUNCTION, writeHeader)
        try check(CURLOPT_PREREQFUNCTION, unsafe utter_setopt_prerequest(handle, beforeRequest))
        try check(CURLOPT_DEBUGFUNCTION, unsafe utter_setopt_debug(handle, noteTraffic))
        try set(CURLOPT_VERBOSE, 1)
        isDebugging = true
        guard asksForAddresses else { return }
        unsafe try set(CURLOPT_OPENSOCKETDATA, context)
        try check(CURLOPT_OPENSOCKETFUNCTION, unsafe utter_setopt_opening(handle, openSocket))
    }

    mutating func stopDebugging() {
        guard isDebugging else { return }
        isDebugging = false
        // Refused, it costs time and nothing else.
        try? set(CURLOPT_VERBOSE, 0)
    }

    private func check(_ option: CURLoption, _ code: CURLcode) throws(CurlRefusal) {
        guard code == CURLE_OK else { throw CurlRefusal(option, code) }
    }

    // MARK: - While it runs, and after

    var httpVersion: String? {
        switch UInt32(clamping: long(CURLINFO_HTTP_VERSION)) {
        case UInt32(CURL_HTTP_VERSION_1_0): "1.0"
        case UInt32(CURL_HTTP_VERSION_1_1): "1.1"
        case UInt32(CURL_HTTP_VERSION_2_0): "2"
        default: nil
        }
    }

    /// Harmless when nothing is paused.
    func unpause() { _ = unsafe curl_easy_pause(handle, CURLPAUSE_CONT) }

    func offset(_ info: CURLINFO) -> Int { Int(unsafe utter_getinfo_offset(handle, info)) }

    func text(_ info: CURLINFO) -> String? {
        unsafe utter_getinfo_string(handle, info).map { unsafe String(cString: $0) }
    }

    /// The version of TLS and the cipher; nil without TLS, and once the connection is gone.
    var security: (version: String, cipher: String)? {
        var (version, cipher): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (nil, nil)
        guard unsafe utter_get_security(handle, &version, &cipher), let version = unsafe version,
            let cipher = unsafe cipher
        else { return nil }
        return unsafe (String(cString: version), String(cString: cipher))
    }

    func long(_ info: CURLINFO) -> Int { unsafe utter_getinfo_long(handle, info) }

    /// The socket of a connection that was made with `CURLOPT_CONNECT_ONLY`; nil when there is none.
    var activeSocket: Int32? {
        let socket = unsafe utter_active_socket(handle)
        return socket >= 0 ? socket : nil
    }

    enum Exchanged {
        /// 0 from `receive` is the end of the connection.
        case bytes(Int)
        case nothingNow
        case failed(CURLcode)

        fileprivate init(_ code: CURLcode, _ count: Int) {
            switch code {
            case CURLE_OK: self = .bytes(count)
            case CURLE_AGAIN: self = .nothingNow
            default: self = .failed(code)
            }
        }
    }

    /// Bytes that could not be sent are sent again from the same place: TLS has begun with them.
    func send(_ bytes: UnsafeRawBufferPointer) -> Exchanged {
        var count = 0
        let code = unsafe curl_easy_send(handle, bytes.baseAddress, bytes.count, &count)
        return Exchanged(code, count)
    }

    func receive(into buffer: inout [UInt8]) -> Exchanged {
        var count = 0
        let code = unsafe curl_easy_recv(handle, &buffer, buffer.count, &count)
        return Exchanged(code, count)
    }

    /// libcurl's own words for the failure, or its words for the code.
    func message(for code: CURLcode) -> String {
        let text = unsafe String(cString: message)
        return text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
    }
}

struct CurlRefusal: Error, Equatable {
    let description: String

    init(_ option: CURLoption, _ code: CURLcode) {
        let found = unsafe curl_easy_option_by_id(option)
        let name =
            unsafe found.map { unsafe String(cString: $0.pointee.name) } ?? "\(option.rawValue)"
        let reason = unsafe String(cString: curl_easy_strerror(code))
        description = "libcurl refuses CURLOPT_\(name): \(reason)"
    }

    init(_ code: CURLMcode) {
        description = "libcurl refuses: \(unsafe String(cString: curl_multi_strerror(code)))"
    }

    init(_ error: SystemError) { description = error.description }

    private init(_ description: String) { self.description = description }

    static let noMemory = CurlRefusal("libcurl has no memory")
    /// With an empty path libcurl would connect to the host of the URL.
    static let noSocket = CurlRefusal("the service's address names no socket")
}
