// SPDX-License-Identifier: Apache-2.0

/// Says how many harms a test has done, and how many of them have cost something that was promised.
///
/// `make losses` adds up the lines of all tests.
package func report(harms count: Int, _ kind: String, lost: Int) {
    print("harms: \(count) \(kind), lost: \(lost)")
}
