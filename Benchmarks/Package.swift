// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "utter-benchmarks",
    dependencies: [.package(name: "utter", path: "..", traits: [])],
    targets: [
        .executableTarget(
            name: "UtterBenchmarks",
            dependencies: [.product(name: "Utter", package: "utter")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
