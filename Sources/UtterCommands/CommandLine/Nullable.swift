// SPDX-License-Identifier: Apache-2.0

/// An optional member of an object in JSON that is always there: as null when it is nil.
@propertyWrapper
struct Nullable<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let wrappedValue else { return try container.encodeNil() }
        try container.encode(wrappedValue)
    }
}

extension Nullable: Sendable where Value: Sendable {}
