// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Names the option in which an error was made.
///
/// - Parameters:
///   - option: as it is written, with its dashes.
///   - hint: what to do, instead of the error's own hint.
///   - body: reads the option's value.
/// - Returns: what `body` returns.
/// - Throws: `CommandFailure` of the error.
func explained<Value>(
    _ option: String, hint: String? = nil, _ body: () throws(ServiceError) -> Value
) throws(CommandFailure) -> Value {
    do throws(ServiceError) {
        return try body()
    } catch {
        throw CommandFailure(error, in: option, hint: hint)
    }
}
