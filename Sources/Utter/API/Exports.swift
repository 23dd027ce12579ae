// SPDX-License-Identifier: Apache-2.0

// A program that imports Utter names sources, formats, services and results without knowing in
// which module they are defined.
@_exported public import AudioCodecs
@_exported public import AudioCore
@_exported public import AudioDevices
@_exported public import Capture
@_exported public import Cryptography
@_exported public import LinuxPlatform
@_exported public import SpeechService
@_exported public import TakeStore
@_exported public import TextRules
@_exported public import Upload
