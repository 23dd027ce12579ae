// SPDX-License-Identifier: Apache-2.0

internal import CCurl

// Called by libcurl on the transfer thread.

func prepareSocket(
    _ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _: curlsocktype
) -> Int32 {
    unsafe transfer(context)?.didOpen(socket)
    return CURL_SOCKOPT_OK
}

func openSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address = unsafe address else { return CURL_SOCKET_BAD }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = Int(unsafe utter_address_bytes(address, &bytes))
    guard unsafe transfer(context)?.mayConnect(to: Array(bytes.prefix(count))) == true else {
        return CURL_SOCKET_BAD
    }
    return unsafe utter_open_socket(address)
}

func beforeRequest(
    _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?,
    _: UnsafeMutablePointer<CChar>?, _: Int32, _ localPort: Int32
) -> Int32 {
    unsafe transfer(context)?.didConnect(localPort: localPort) == true
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

func noteTraffic(
    _: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ text: UnsafeMutablePointer<CChar>?,
    _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    // The bodies' pieces come here as well, and are left alone.
    guard kind == CURLINFO_HEADER_OUT else { return 0 }
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
    unsafe transfer(context)?.didSend(head: String(decoding: bytes, as: UTF8.self))
    return 0
}

func readBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    return unsafe transfer(context)?.fill(bytes) ?? Int(CURL_READFUNC_ABORT)
}

func writeHeader(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
    let line = unsafe String(decoding: bytes, as: UTF8.self)
    return unsafe transfer(context)?.receive(headerLine: line) == true ? size * count : 0
}

func writeResponse(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
    let isWanted = unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
        unsafe transfer(context)?.receive(bytes.span) == true
    }
    return isWanted ? size * count : 0
}

/// The loop keeps the transfer alive until its handle is gone.
private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

extension Transfer {
    /// Called for each address that is about to be connected to, on the transfer thread.
    func mayConnect(to address: [UInt8]) -> Bool {
        request.avoids?(proxy == nil ? address : nil) != true
    }
}
