// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import Foundation
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

/// Settings of what the compiler needs long for: tests are built without optimising it.
///
/// That is three to four times as fast. What moves bytes is optimised, and so are other packages.
let quick: [SwiftSetting] =
    Context.environment["UTTER_QUICK_BUILD"] == nil ? [] : [.unsafeFlags(["-Onone"])]

/// Settings of the tests, but for those that try a million orders, and for what tests share.
let tested = settings + quick

/// The generations of the voice detector's library, as pkg-config names them, and the file for each.
///
/// A system has one of them, or none: then all sound counts as voice. SwiftPM remembers what it has
/// found here; the scripts have it look anew.
let detectors = [
    "webrtc-audio-processing": "webrtc0.cpp", "webrtc-audio-processing-1": "webrtc1.cpp",
]
let detector = detectors.keys.sorted().first { name in
    let triples = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map { "/usr/lib/\($0)" }
    let given = Context.environment["PKG_CONFIG_PATH"]?.split(separator: ":").map(String.init) ?? []
    let folders = (triples + ["/usr/lib64", "/usr/lib", "/usr/share", "/usr/local/lib"]).map {
        "\($0)/pkgconfig"
    }
    return (given + folders).contains { FileManager.default.fileExists(atPath: "\($0)/\(name).pc") }
}
let voiceFiles = Set(detectors.values).union(["none.cpp"])
let voiceFile = detector.flatMap { detectors[$0] } ?? "none.cpp"

/// A program that takes the library alone leaves this trait out, and fetches no other package.
let ofPrograms = TargetDependencyCondition.when(traits: ["Programs"])
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: ofPrograms)

let package = Package(
    name: "utter",
    products: [
        .library(name: "Utter", targets: ["Utter", "Downloads"]),
        .library(name: "RecognitionEndpoint", targets: ["RecognitionEndpoint"]),
        .executable(name: "utter", targets: ["UtterCLI"]),
        .executable(name: "utter-endpoint", targets: ["UtterEndpointCLI"]),
        .executable(name: "utter-ear", targets: ["UtterEarCLI"]),
        .executable(name: "utter-keys", targets: ["UtterKeysCLI"]),
        .executable(name: "utter-work", targets: ["UtterWorkCLI"]),
    ],
    traits: [
        .default(enabledTraits: ["Programs"]),
        .trait(
            name: "Programs",
            description: "Programs and endpoint, by an option parser and an HTTP server."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // C libraries: a module map and the wrappers for what Swift cannot import.
        .target(name: "CALSA", path: "Sources/C/CALSA"),
        .systemLibrary(
            name: "CCrypto", path: "Sources/C/CCrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/C/CCurl",
            providers: [.apt(["libcurl4-openssl-dev", "libssl-dev"])]),
        .systemLibrary(
            name: "CEvdev", path: "Sources/C/CEvdev", pkgConfig: "libevdev",
            providers: [.apt(["libevdev-dev"])]),
        .systemLibrary(
            name: "CFLAC", path: "Sources/C/CFLAC", providers: [.apt(["libflac-dev"])]),
        .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
        .systemLibrary(
            name: "CNATS", path: "Sources/C/CNATS", pkgConfig: "libnats",
            providers: [.apt(["libnats-dev"])]),
        .systemLibrary(
            name: "COpus", path: "Sources/C/COpus",
            providers: [.apt(["libopus-dev", "libogg-dev"])]),
        .systemLibrary(
            name: "CPocketSphinx", path: "Sources/C/CPocketSphinx", pkgConfig: "pocketsphinx",
            providers: [.apt(["libpocketsphinx-dev", "pocketsphinx-en-us"])]),
        .systemLibrary(
            name: "CSampleRate", path: "Sources/C/CSampleRate",
            providers: [.apt(["libsamplerate0-dev"])]),
        .systemLibrary(
            name: "CSystemd", path: "Sources/C/CSystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CZlib", path: "Sources/C/CZlib", providers: [.apt(["zlib1g-dev"])]),

        // Puts a terminal right, also from a signal handler.
        .target(name: "CTerminal", path: "Sources/C/CTerminal"),

        // A parser of TOML, which is C++, behind one C function.
        .target(name: "CTOML", path: "Sources/C/CTOML"),

        // The voice detector of WebRTC, which is C++, behind four C functions.
        .systemLibrary(
            name: "CWebRTC", path: "Sources/C/CWebRTC", pkgConfig: detector,
            providers: [.apt(["libwebrtc-audio-processing-dev"])]),
        .target(
            name: "CVoice", dependencies: ["CWebRTC"], path: "Sources/C/CVoice",
            exclude: voiceFiles.subtracting([voiceFile]).sorted(), sources: [voiceFile],
            // SwiftPM takes no definitions from pkg-config, and says so with a warning.
            cxxSettings: [
                .define("WEBRTC_AUDIO_PROCESSING_ONLY_BUILD"), .define("WEBRTC_LIBRARY_IMPL"),
                .define("WEBRTC_POSIX"),
            ]),

        // The vocabulary.
        .target(name: "LinuxPlatform", dependencies: ["CLinux"], swiftSettings: shipped),
        .target(name: "AudioCore", dependencies: ["CSampleRate"], swiftSettings: shipped),
        .target(
            name: "Cryptography", dependencies: ["LinuxPlatform", "CCrypto"],
            swiftSettings: shipped),

        .target(name: "Settings", dependencies: ["CTOML"], swiftSettings: shipped),
        // What an operator's monitoring reads.
        .target(name: "OperatorMetrics", dependencies: ["LinuxPlatform"], swiftSettings: shipped),
        .target(name: "Cassettes", dependencies: ["LinuxPlatform"], swiftSettings: shipped),

        // The stages.
        .target(
            name: "AudioCodecs", dependencies: ["AudioCore", "CFLAC", "COpus"],
            swiftSettings: shipped),
        .target(
            name: "Capture",
            dependencies: ["AudioCore", "AudioCodecs", "LinuxPlatform", "CVoice"],
            swiftSettings: shipped),
        .target(
            name: "AudioDevices", dependencies: ["AudioCore", "Capture", "LinuxPlatform", "CALSA"],
            swiftSettings: shipped),
        .target(
            name: "TakeStore",
            dependencies: [
                "AudioCodecs", "AudioCore", "Cryptography", "LinuxPlatform", "TextRules",
            ],
            swiftSettings: shipped),
        .target(
            name: "TextRules", dependencies: ["Settings"],
            resources: [.embedInCode("Tables")], swiftSettings: shipped),
        .target(
            name: "SpeechService",
            dependencies: [
                "AudioCodecs", "Cryptography", "LinuxPlatform", "Settings", "TextRules", "CCurl",
                "CZlib",
            ],
            resources: [.embedInCode("Profiles")], swiftSettings: shipped + quick),
        .target(
            name: "Upload",
            dependencies: ["Cryptography", "LinuxPlatform", "SpeechService", "CCurl"],
            swiftSettings: shipped),

        // Recordings that lie elsewhere, beside what is recorded here.
        .target(
            name: "Downloads",
            dependencies: ["Cryptography", "LinuxPlatform", "SpeechService", "Upload"],
            swiftSettings: shipped + quick),

        // Writes requests and their answers down, in front of whatever makes them.
        .target(
            name: "CassetteRecording",
            dependencies: ["Cassettes", "LinuxPlatform", "SpeechService", "Upload"],
            swiftSettings: shipped),

        // Keys outside of the terminal.
        .target(
            name: "KeyboardDevices", dependencies: ["LinuxPlatform", "CEvdev"],
            path: "Sources/Companions/KeyboardDevices", swiftSettings: shipped),
        .target(
            name: "ShortcutPortal", dependencies: ["LinuxPlatform", "CSystemd"],
            path: "Sources/Companions/ShortcutPortal", swiftSettings: shipped),

        // The terminal: keys, signals, lines that change.
        .target(
            name: "UtterTerminal", dependencies: ["LinuxPlatform", "CTerminal"],
            swiftSettings: shipped),

        // The socket at which programs of one person meet, and who gets which text there.
        .target(
            name: "UtterControl", dependencies: ["LinuxPlatform", "Utter"],
            swiftSettings: shipped),

        // What a person's file of settings says, and the services that it names.
        .target(
            name: "UtterSettings",
            dependencies: ["AudioCodecs", "LinuxPlatform", "Settings", "SpeechService"],
            swiftSettings: shipped + quick),

        // The products.
        .target(
            name: "Utter",
            dependencies: [
                "AudioCore", "AudioCodecs", "AudioDevices", "Capture", "Cryptography",
                "LinuxPlatform", "OperatorMetrics", "SpeechService", "TakeStore", "TextRules",
                "Upload",
            ],
            swiftSettings: shipped + quick),
        .target(
            name: "RecognitionEndpoint",
            dependencies: [
                "AudioCore", "AudioCodecs", "Capture", "Cassettes", "Cryptography",
                "LinuxPlatform", "OperatorMetrics",
                .product(
                    name: "HummingbirdCore", package: "hummingbird", condition: ofPrograms),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: ofPrograms),
            ],
            path: "Sources/Companions/RecognitionEndpoint",
            resources: [.embedInCode("Page/Resources")], swiftSettings: shipped + quick),
        .target(
            name: "UtterCommands",
            dependencies: [
                "Utter", "AudioCore", "Capture", "CassetteRecording", "Cryptography", "Downloads",
                "LinuxPlatform", "OperatorMetrics", "Settings", "TextRules",
                "UtterControl", "UtterSettings", "UtterTerminal",
                argumentParser,
            ],
            resources: [.embedInCode("Page/Resources")], swiftSettings: shipped + quick),
        // Many machines: a queue, a store of objects, and workers.
        .target(
            name: "Fleet",
            dependencies: [
                "Utter", "AudioCodecs", "Capture", "Cryptography", "LinuxPlatform",
                "OperatorMetrics", "SpeechService", "TakeStore", "Upload", "CNATS",
            ],
            path: "Sources/Companions/Fleet", swiftSettings: shipped + quick),
        .executableTarget(
            name: "UtterCLI",
            dependencies: [
                "Utter", "UtterCommands",
                argumentParser,
            ],
            path: "Sources/Programs/utter", swiftSettings: shipped),
        .executableTarget(
            name: "UtterEndpointCLI",
            dependencies: [
                "Utter", "UtterCommands", "Cassettes", "Cryptography", "LinuxPlatform",
                "OperatorMetrics",
                "RecognitionEndpoint", "UtterControl", "UtterTerminal",
                argumentParser,
            ],
            path: "Sources/Programs/utter-endpoint", swiftSettings: shipped),
        // A recogniser, which the endpoint starts as it starts any other.
        .executableTarget(
            name: "UtterEarCLI", dependencies: ["CPocketSphinx"],
            path: "Sources/Programs/utter-ear", swiftSettings: shipped),
        .executableTarget(
            name: "UtterKeysCLI",
            dependencies: [
                "Utter", "UtterCommands", "UtterControl", "KeyboardDevices", "LinuxPlatform",
                "ShortcutPortal", "UtterTerminal",
                argumentParser,
            ],
            path: "Sources/Programs/utter-keys", swiftSettings: shipped),

        .executableTarget(
            name: "UtterWorkCLI",
            dependencies: [
                "Fleet", "LinuxPlatform", "OperatorMetrics", "SpeechService", "TakeStore", "Utter",
                "UtterCommands", "UtterControl", "UtterTerminal",
                argumentParser,
            ],
            path: "Sources/Programs/utter-work", swiftSettings: shipped),

        // Makes the manual pages of the commands when the package is installed.
        .executableTarget(
            name: "utter-manual", path: "Sources/Programs/utter-manual", swiftSettings: shipped),

        // How programs use the library.
        .executableTarget(
            name: "dictate", dependencies: ["Utter"], path: "samples/dictate",
            packageAccess: false,
            swiftSettings: settings),
        .executableTarget(
            name: "transcribe", dependencies: ["Utter"], path: "samples/transcribe",
            packageAccess: false,
            swiftSettings: settings),

        // The tests: one target a module, and what they share.
        .target(
            name: "TestSupport",
            dependencies: ["AudioCore", "LinuxPlatform", "TakeStore", "CLinux"],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "AudioCoreTests", dependencies: ["AudioCore", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "AudioCodecsTests", dependencies: ["AudioCodecs", "AudioCore", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "AudioDevicesTests",
            dependencies: ["AudioDevices", "AudioCore", "Capture", "LinuxPlatform", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "CaptureTests",
            dependencies: [
                "AudioDevices", "Capture", "AudioCodecs", "AudioCore", "LinuxPlatform",
                "TestSupport",
            ],
            swiftSettings: tested),
        .testTarget(
            name: "CryptographyTests",
            dependencies: ["Cryptography", "LinuxPlatform", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "KeyboardDevicesTests", dependencies: ["KeyboardDevices", "TestSupport"],
            path: "Tests/Companions/KeyboardDevicesTests",
            swiftSettings: tested),
        .testTarget(
            name: "ShortcutPortalTests",
            dependencies: ["ShortcutPortal", "LinuxPlatform", "TestSupport"],
            path: "Tests/Companions/ShortcutPortalTests",
            swiftSettings: tested),
        .testTarget(
            name: "UtterControlTests",
            dependencies: [
                "UtterControl", "LinuxPlatform", "SpeechService", "TestSupport", "Utter",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "UtterSettingsTests",
            dependencies: ["UtterSettings", "Settings", "SpeechService"],
            swiftSettings: tested),
        .testTarget(
            name: "UtterTerminalTests",
            dependencies: ["UtterTerminal", "AudioCore", "LinuxPlatform", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "LinuxPlatformTests", dependencies: ["LinuxPlatform", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "TakeStoreTests",
            dependencies: [
                "TakeStore", "AudioCore", "Cryptography", "LinuxPlatform", "TestSupport",
            ],
            swiftSettings: tested),
        .testTarget(
            name: "OperatorMetricsTests",
            dependencies: ["OperatorMetrics", "LinuxPlatform", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "SettingsTests", dependencies: ["Settings", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "CassettesTests", dependencies: ["Cassettes", "TestSupport"],
            swiftSettings: tested),
        .testTarget(
            name: "TextRulesTests", dependencies: ["TextRules", "TestSupport"],
            exclude: ["Sentences"],
            swiftSettings: tested),
        .testTarget(
            name: "SpeechServiceTests",
            dependencies: [
                "SpeechService", "AudioCodecs", "Cryptography", "Settings", "CZlib", "TestSupport",
            ],
            swiftSettings: tested),
        .testTarget(
            name: "DownloadsTests",
            dependencies: [
                "Downloads", "Cryptography", "LinuxPlatform", "SpeechService", "TestSupport",
            ],
            swiftSettings: tested),
        .testTarget(
            name: "UploadTests",
            dependencies: [
                "Upload", "TakeStore", "AudioCore", "Cryptography", "LinuxPlatform",
                "SpeechService", "TestSupport",
            ],
            swiftSettings: tested),
        .testTarget(
            name: "UtterTests",
            dependencies: [
                "Utter", "AudioCodecs", "AudioCore", "AudioDevices", "Capture",
                "CassetteRecording", "Cassettes", "Cryptography", "LinuxPlatform",
                "OperatorMetrics", "RecognitionEndpoint", "SpeechService", "TakeStore",
                "TextRules", "TestSupport", "Upload",
            ], exclude: ["Fixtures"],
            swiftSettings: tested),
        // A program in another package: it imports the product alone, and sees what is public.
        .testTarget(
            name: "ClientTests", dependencies: ["Utter", "Downloads"], packageAccess: false,
            swiftSettings: tested),
        .testTarget(
            name: "RecognitionEndpointTests",
            dependencies: [
                "RecognitionEndpoint", "UtterEarCLI", "AudioCodecs", "AudioCore", "Capture",
                "Cassettes", "Cryptography", "LinuxPlatform", "TestSupport",
            ],
            path: "Tests/Companions/RecognitionEndpointTests",
            swiftSettings: tested),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "UtterCLI", "UtterEarCLI", "UtterEndpointCLI", "UtterKeysCLI", "UtterWorkCLI",
                "utter-manual", "UtterCommands",
                "Utter", "Capture", "Cassettes", "Cryptography", "LinuxPlatform", "Settings",
                "SpeechService", "TakeStore", "TestSupport", "UtterSettings", "UtterTerminal",
                argumentParser,
            ],
            swiftSettings: tested),
        // The commands that record: a module of its own, so that two processors compile the tests of commands.
        .testTarget(
            name: "RecordingCommandTests",
            dependencies: [
                "UtterCLI", "UtterEarCLI", "UtterEndpointCLI", "UtterKeysCLI", "utter-manual",
                "UtterCommands",
                "Utter", "AudioCodecs", "AudioCore", "CEvdev", "LinuxPlatform", "ShortcutPortal",
                "SpeechService", "TestSupport", "UtterControl", "UtterSettings", "UtterTerminal",
            ],
            swiftSettings: tested),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "Fleet", "UtterWorkCLI", "Utter", "LinuxPlatform", "SpeechService", "TakeStore",
                "TestSupport",
            ],
            path: "Tests/Companions/FleetTests",
            swiftSettings: tested),
        // The files' faults: the real program on a disk that fails, fills up or loses its power.
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "UtterCLI", "Utter", "AudioCodecs", "AudioCore", "Cryptography", "LinuxPlatform",
                "TakeStore", "TestSupport",
            ],
            swiftSettings: tested),
    ],
    cxxLanguageStandard: .cxx17
)
