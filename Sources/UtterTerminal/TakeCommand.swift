// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// A command that runs takes, so that the loops may be started before its options are known.
package protocol TakeCommand: AsyncParsableCommand {}
