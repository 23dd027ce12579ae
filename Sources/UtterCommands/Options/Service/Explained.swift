// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Names the option in which an error was made; a hint takes the place of the error's own.
func explained<Value>(
    _ option: String, hint: String? = nil, _ body: () throws(ServiceError) -> Value
) throws(CommandFailure) -> Value {
    do throws(ServiceError) {
        return try body()
    } catch {
        throw CommandFailure(error, in: option, hint: hint)
    }
}
