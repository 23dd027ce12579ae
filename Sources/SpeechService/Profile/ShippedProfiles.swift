// SPDX-License-Identifier: Apache-2.0

enum ShippedProfiles {
    static let names = files.map(\.name)

    static func text(of name: String) -> ProfileText? {
        files.first { $0.name == name }.map { file in
            ProfileText(
                name: name, place: "shipped/\(name).toml",
                text: String(decoding: file.bytes, as: UTF8.self))
        }
    }

    private static let files: [(name: String, bytes: [UInt8])] = [
        ("aliyun", PackageResources.aliyun_toml),
        ("assemblyai", PackageResources.assemblyai_toml),
        ("assemblyai-batch", PackageResources.assemblyai_batch_toml),
        ("assemblyai-dictation", PackageResources.assemblyai_dictation_toml),
        ("azure", PackageResources.azure_toml),
        ("azure-fast", PackageResources.azure_fast_toml),
        ("baidu", PackageResources.baidu_toml),
        ("cloudflare", PackageResources.cloudflare_toml),
        ("deepgram", PackageResources.deepgram_toml),
        ("deepgram-flux", PackageResources.deepgram_flux_toml),
        ("desktop", PackageResources.desktop_toml),
        ("elevenlabs", PackageResources.elevenlabs_toml),
        ("faster-whisper-server", PackageResources.faster_whisper_server_toml),
        ("gladia", PackageResources.gladia_toml),
        ("google", PackageResources.google_toml),
        ("groq", PackageResources.groq_toml),
        ("home-assistant", PackageResources.home_assistant_toml),
        ("hugging-face", PackageResources.hugging_face_toml),
        ("kaldi-gstreamer", PackageResources.kaldi_gstreamer_toml),
        ("lex-v1", PackageResources.lex_v1_toml),
        ("lex-v2", PackageResources.lex_v2_toml),
        ("localai", PackageResources.localai_toml),
        ("mistral", PackageResources.mistral_toml),
        ("nvidia-nim", PackageResources.nvidia_nim_toml),
        ("openai", PackageResources.openai_toml),
        ("ovos", PackageResources.ovos_toml),
        ("resumable", PackageResources.resumable_toml),
        ("revai", PackageResources.revai_toml),
        ("rhasspy", PackageResources.rhasspy_toml),
        ("s3", PackageResources.s3_toml),
        ("sber", PackageResources.sber_toml),
        ("soniox", PackageResources.soniox_toml),
        ("speaches", PackageResources.speaches_toml),
        ("speechmatics", PackageResources.speechmatics_toml),
        ("tus", PackageResources.tus_toml),
        ("utter", PackageResources.utter_toml),
        ("vllm", PackageResources.vllm_toml),
        ("vllm-realtime", PackageResources.vllm_realtime_toml),
        ("volcengine", PackageResources.volcengine_toml),
        ("vosk", PackageResources.vosk_toml),
        ("vosk-server", PackageResources.vosk_server_toml),
        ("watson", PackageResources.watson_toml),
        ("webdav", PackageResources.webdav_toml),
        ("whisper-asr-webservice", PackageResources.whisper_asr_webservice_toml),
        ("whisper-cpp", PackageResources.whisper_cpp_toml),
        ("wit", PackageResources.wit_toml),
        ("wit-dictation", PackageResources.wit_dictation_toml),
        ("wyoming", PackageResources.wyoming_toml),
        ("wyoming-http", PackageResources.wyoming_http_toml),
        ("yandex", PackageResources.yandex_toml),
    ]
}
