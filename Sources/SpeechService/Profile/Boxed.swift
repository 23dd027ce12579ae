// SPDX-License-Identifier: Apache-2.0

/// A value that is kept on the heap, and made anew when it is changed.
///
/// A description of a service has some eighty members. With its parts in boxes a copy of it counts
/// a few references; without, the compiler writes out the copy of each member wherever a type
/// holds one.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    package init(wrappedValue: Value) { box = Box(wrappedValue) }

    package var wrappedValue: Value {
        get { box.value }
        set { box = Box(newValue) }
    }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (one: Boxed, other: Boxed) -> Bool {
        one.box === other.box || one.wrappedValue == other.wrappedValue
    }
}

extension Boxed: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
