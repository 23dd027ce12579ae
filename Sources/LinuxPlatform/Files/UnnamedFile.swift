// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// Makes a file in memory that has no name, for a program to read or to write.
///
/// Unlike a pipe it takes everything at once, and does not break when one end closes early: a
/// program that goes on in the background may write to it for as long as it likes. The
/// corresponding C function is `memfd_create`.
///
/// - Parameter bytes: what it holds, to be read from its start.
/// - Returns: its descriptor.
/// - Throws: `SystemError` when the process has no descriptor or memory left.
package func makeMemoryFile(_ bytes: [UInt8] = []) throws(SystemError) -> OwnedDescriptor {
    let number = try retryingInterrupts("memfd_create") { unsafe utter_memory_file("utter") }
    let file = OwnedDescriptor(taking: number)
    try writeAll(bytes.span, to: file.number, at: 0)
    return file
}
