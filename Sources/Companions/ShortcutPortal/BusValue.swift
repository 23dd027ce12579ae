// SPDX-License-Identifier: Apache-2.0

/// A value of a D-Bus message, of a type that the portal uses.
indirect enum BusValue: Equatable, Sendable {
    /// `s`
    case string(String)
    /// `o`: the path of an object.
    case path(String)
    /// `u`
    case unsigned(UInt32)
    /// `t`
    case long(UInt64)
    /// `b`
    case bool(Bool)
    /// `v`
    case variant(BusValue)
    /// `a{sv}`: the values are in variants.
    case options([String: BusValue])
    /// `a` of the named type, since the array may be empty.
    case array([BusValue], of: String)
    /// A structure, in brackets.
    case structure([BusValue])
    /// A value of another type, which is not read.
    case other

    var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .unsigned: "u"
        case .long: "t"
        case .bool: "b"
        case .variant: "v"
        case .options: "a{sv}"
        case .array(_, let type): "a" + type
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .other: ""
        }
    }

    /// The text of a string or a path, also in a variant.
    var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        case .variant(let value): value.text
        default: nil
        }
    }

    /// The members of an array, also in a variant.
    var members: [BusValue] {
        switch self {
        case .array(let members, _): members
        case .variant(let value): value.members
        default: []
        }
    }
}
