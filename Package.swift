// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Settings of every target: the upcoming language features we already write for.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Settings of the targets that ship: as above, and every unsafe expression is marked.
let shipped = settings + [.strictMemorySafety()]

let package = Package(
    name: "utter",
    products: [
        .library(name: "Utter", targets: ["Utter"]),
        .library(name: "RecognitionEndpoint", targets: ["RecognitionEndpoint"]),
        .executable(name: "utter", targets: ["UtterCLI"]),
        .executable(name: "utter-endpoint", targets: ["UtterEndpointCLI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        // C libraries: a module map and the wrappers for what Swift cannot import.
        .target(name: "CALSA"),
        .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(
            name: "COpus", providers: [.apt(["libopus-dev", "libogg-dev"])]),
        .systemLibrary(
            name: "CPocketSphinx", pkgConfig: "pocketsphinx",
            providers: [.apt(["libpocketsphinx-dev", "pocketsphinx-en-us"])]),
        .systemLibrary(name: "CSampleRate", providers: [.apt(["libsamplerate0-dev"])]),

        // The vocabulary.
        .target(name: "LinuxPlatform", dependencies: ["CLinux"], swiftSettings: shipped),
        .target(name: "AudioCore", swiftSettings: shipped),

        // The stages.
        .target(
            name: "AudioConversion", dependencies: ["AudioCore", "CSampleRate"],
            swiftSettings: shipped),
        .target(
            name: "AudioCapture",
            dependencies: [
                "AudioCore", "AudioConversion", "AudioEncoding", "LinuxPlatform", "CALSA",
            ],
            swiftSettings: shipped),
        .target(
            name: "AudioEncoding", dependencies: ["COpus"], swiftSettings: shipped),
        .target(
            name: "TakeStore", dependencies: ["AudioCore", "LinuxPlatform", "CCrypto"],
            swiftSettings: shipped),
        .target(name: "SpeechService", dependencies: ["CCurl"], swiftSettings: shipped),
        .target(
            name: "ChunkedUpload", dependencies: ["LinuxPlatform", "TakeStore", "CCurl"],
            swiftSettings: shipped),

        // The products.
        .target(
            name: "Utter",
            dependencies: [
                "AudioCore", "AudioCapture", "AudioEncoding", "TakeStore", "SpeechService",
                "ChunkedUpload", "LinuxPlatform",
            ],
            swiftSettings: shipped),
        .target(
            name: "RecognitionEndpoint",
            dependencies: [
                "AudioCore", "AudioConversion", "AudioEncoding", "LinuxPlatform", "TakeStore",
                "CPocketSphinx",
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            swiftSettings: shipped),
        .target(
            name: "UtterTerminal",
            dependencies: [
                "Utter", "AudioCapture", "AudioCore", "LinuxPlatform",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: shipped),
        .executableTarget(
            name: "UtterCLI",
            dependencies: [
                "Utter", "UtterTerminal", "LinuxPlatform",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: shipped),
        .executableTarget(
            name: "UtterEndpointCLI",
            dependencies: [
                "Utter", "UtterTerminal", "LinuxPlatform", "RecognitionEndpoint",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: shipped),

        // How a program uses the library.
        .executableTarget(
            name: "transcribe", dependencies: ["Utter"], path: "samples/transcribe",
            swiftSettings: settings),

        // The tests: one target a module, and what they share.
        .target(
            name: "TestSupport", dependencies: ["AudioCore", "LinuxPlatform", "CLinux"],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "AudioCoreTests",
            dependencies: ["AudioCore", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "AudioConversionTests",
            dependencies: ["AudioConversion", "AudioCore", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "AudioCaptureTests",
            dependencies: [
                "AudioCapture", "AudioConversion", "AudioCore", "AudioEncoding", "LinuxPlatform",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AudioEncodingTests",
            dependencies: ["AudioEncoding", "AudioCore", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "TakeStoreTests",
            dependencies: ["TakeStore", "AudioCore", "LinuxPlatform", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SpeechServiceTests",
            dependencies: ["SpeechService", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ChunkedUploadTests",
            dependencies: [
                "ChunkedUpload", "TakeStore", "AudioCore", "LinuxPlatform", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "UtterTests",
            dependencies: [
                "Utter", "AudioCore", "AudioCapture", "AudioEncoding", "TakeStore", "SpeechService",
                "ChunkedUpload", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RecognitionEndpointTests",
            dependencies: ["RecognitionEndpoint", "AudioCore", "AudioEncoding", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "UtterCLI", "UtterEndpointCLI", "UtterTerminal", "AudioCore", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        // The files' faults: the real program on a disk that fails, fills up or loses its power.
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "UtterCLI", "Utter", "TakeStore", "AudioCore", "AudioEncoding", "LinuxPlatform",
                "TestSupport",
            ],
            swiftSettings: settings),
    ]
)
