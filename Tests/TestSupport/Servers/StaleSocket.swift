// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// Leaves a socket at `path` as a program that was killed does: with a name, and no listener.
///
/// Closing alone would not end the listening at once: a program that another test starts has a copy
/// of the socket between its fork and its exec.
///
/// - Throws: `SystemError` when it cannot be made.
package func leaveStaleSocket(at path: String) throws(SystemError) {
    let socket = try LocalSocket.listen(at: path)
    shutdown(socket.number, Int32(SHUT_RDWR))
}
