// SPDX-License-Identifier: Apache-2.0

// Whoever imports Utter names sources, formats, services and results without knowing in which
// module they are defined.
@_exported public import AudioCapture
@_exported public import AudioCore
@_exported public import AudioEncoding
@_exported public import ChunkedUpload
@_exported public import SpeechService
@_exported public import TakeStore
