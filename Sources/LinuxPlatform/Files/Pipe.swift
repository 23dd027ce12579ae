// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// Makes a pipe that no child process inherits; the caller closes both ends.
///
/// The corresponding C function is `pipe2`, with `O_CLOEXEC`.
///
/// - Throws: `SystemError` when the process has no descriptor left.
package func makePipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe utter_pipe(&ends) == 0 else { throw SystemError.last("pipe") }
    return (ends[0], ends[1])
}
