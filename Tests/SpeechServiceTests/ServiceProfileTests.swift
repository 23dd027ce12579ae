// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCodecs
@testable import Settings
@testable import SpeechService

@Suite struct ServiceProfileTests {
    /// What a request without audio is: the URL, the fields and the body around the audio.
    private func request(
        _ profile: ServiceProfile, _ words: [String: String] = [:], codec: AudioCodec? = nil
    ) throws -> (service: RecognitionService, frame: BodyFrame, text: String) {
        let format = try profile.format(codec)
        let service = try profile.service(words: words, format: format)
        let frame = service.frame(
            mediaType: format.codec.mediaType, fileName: "audio.wav", id: "id")
        return (service, frame, String(decoding: frame.prologue, as: UTF8.self))
    }

    @Test func aDozenLinesDescribeAService() throws {
        let profile = try ServiceProfile(
            """
            url = "https://{region}.speech.example/v1/{model}/listen?v=3"
            [query]
            language = "{language}"
            hint = "{prompt}"
            [headers]
            X-Rate = "{rate}"
            [words]
            region = { required = true, values = { europe = "eu1" } }
            model = "large v2"
            [[formats]]
            codec = "flac"
            content-type = "audio/x-flac;rate={rate}"
            [transfer]
            framing = "length"
            """)
        let (service, frame, _) = try request(profile, ["region": "europe", "language": "pt BR"])
        #expect(
            service.url.text
                == "https://eu1.speech.example/v1/large%20v2/listen?v=3&language=pt%20BR")
        #expect(service.headers.map(\.value) == ["16000"])
        #expect(frame.contentType == "audio/x-flac;rate=16000")
        #expect(profile.transfer.framing == .length)
        // A word that is not said leaves out what it stands in.
        #expect(!service.url.text.contains("hint"))
    }

    @Test(arguments: [
        (#"body.content-type = "audio/own""#, "audio/own"),
        (#"body.file-name = "own.bin""#, "own.bin"),
        (#"query.encoding = "own-query""#, "own-query"),
        (#"headers.x-kind = "own-kind""#, "own-kind"),
        (#"body.fields.part = "own-part""#, "own-part"), (#"words.mark = "own-mark""#, "own-mark"),
    ])
    func whatAPersonSaysCountsOverTheFormsOfTheAudio(line: String, own: String) throws {
        let text = """
            url = "http://a.example/{mark}"
            body.kind = "form"
            [words]
            mark = "usual"
            [[formats]]
            codec = "flac"
            content-type = "audio/form"
            file-name = "form.flac"
            query.encoding = "form-query"
            headers.X-Kind = "form-kind"
            fields.part = "form-part"
            words.mark = "form-mark"
            """
        let profile = ProfileText(name: "a", text: text)
        func all(_ texts: [ProfileText]) throws -> String {
            let (service, _, body) = try request(try ServiceProfile(texts: texts))
            return service.url.text + service.headers.map(\.value).joined() + body
        }
        let before = try all([profile])
        #expect(!before.contains(own) && before.contains("form-query"))
        let after = try all([ProfileText(overriding: line, place: "-c"), profile])
        // One thing is said anew, and the five others are those of the form.
        let forms = [
            "audio/form", "form.flac", "form-query", "form-kind", "form-part", "form-mark",
        ]
        #expect(after.contains(own) && forms.count { after.contains($0) } == 5, "\(after)")
    }

    @Test(arguments: [
        ("en", "en-US", "en"), ("en", "EN_gb", "en"), ("en", "zh-Hant-TW", "zh"),
        ("en", "de", "de"), ("en", "auto", "auto"), ("en", "es-419", "es"),
        ("en", "en-US,de", "en-US,de"), ("en-US", "en_us", "en-US"),
        ("en-US", "zh_Hans_cn", "zh-Hans-CN"), ("en-us", "pt-BR", "pt-br"),
        ("en_US", "es-us", "es_US"), ("en-US", "multi", "multi"),
        ("en", "speech-to-text", "speech-to-text"), ("en", "a-b", "a-b"),
    ])
    func aLanguageIsWrittenAsTheServiceHasIt(
        _ form: String, _ said: String, _ sent: String
    ) throws {
        let profile = try ServiceProfile(
            """
            url = "http://a.example/?l={language}"
            words.language = { form = "\(form)", values = { tlh = "klingon" } }
            formats = [{ codec = "wav" }]
            """)
        let word = try #require(profile.words.first)
        #expect(try word.value(for: said, of: "a") == sent)
        #expect(try word.value(for: "tlh", of: "a") == "klingon")
    }

    @Test func aFormHasItsFieldsInOrderBeforeTheAudio() throws {
        let profile = try ServiceProfile(
            """
            url = "http://a.example/"
            [body]
            kind = "form"
            file-field = "audio"
            [body.fields]
            z = "{model}"
            a = "{language}"
            config = { json = '{"model":"{model}","language":"{language}","rate":16000}' }
            [words]
            model = 'small "x"'
            [[formats]]
            codec = "ogg-opus"
            file-name = "speech.ogg"
            fields = { format = "ogg" }
            """)
        let (_, frame, text) = try request(profile)
        #expect(frame.contentType == "multipart/form-data; boundary=utter-id")
        #expect(
            text == """
                --utter-id\r
                Content-Disposition: form-data; name="z"\r
                \r
                small "x"\r
                --utter-id\r
                Content-Disposition: form-data; name="config"\r
                Content-Type: application/json\r
                \r
                {"model":"small \\"x\\"","rate":16000}\r
                --utter-id\r
                Content-Disposition: form-data; name="format"\r
                \r
                ogg\r
                --utter-id\r
                Content-Disposition: form-data; name="audio"; filename="speech.ogg"\r
                Content-Type: audio/ogg;codecs=opus\r
                \r

                """)
    }

    @Test func slashesOfAPathAreLeftInAPathAlone() throws {
        let profile = try ServiceProfile(
            """
            url = "https://a.example/run/{model}?m={model}"
            query = { n = "{model}" }
            words.model = { default = "@cf/open ai/whisper", path = true }
            """)
        let service = try profile.service(format: try profile.format(nil))
        #expect(
            service.url.text
                == "https://a.example/run/@cf/open%20ai/whisper?m=%40cf%2Fopen%20ai%2Fwhisper"
                + "&n=%40cf%2Fopen%20ai%2Fwhisper")
    }

    @Test func wordsInJSONAreEscapedAndLeftOutWithoutAValue() throws {
        let profile = try ServiceProfile(
            #"""
            url = "https://a.example/recognize"
            [body]
            kind = "json"
            template = '{"config":{"code":"{language}","hints":["{prompt}"],"encoding":"{encoding}"},"audio":{"content":"{audio}"}}'
            [[formats]]
            codec = "flac"
            words = { encoding = "FLAC" }
            """#)
        let (_, frame, text) = try request(profile, ["language": "a\"b\\c\n"])
        #expect(
            text
                == #"{"config":{"code":"a\"b\\c\n","hints":[],"encoding":"FLAC"},"audio":{"content":""#
        )
        #expect(String(decoding: frame.epilogue, as: UTF8.self) == #""}}"#)
        #expect(frame.isBase64)
    }

    @Test func aProfileExtendsAnotherMemberByMember() throws {
        let base = ProfileText(
            name: "base",
            text: """
                url = "https://base.example/v1"
                [query]
                a = "1"
                b = "2"
                [words.model]
                default = "large"
                about = "the model"
                [words.prompt]
                [[formats]]
                codec = "flac"
                [[formats]]
                codec = "wav"
                """)
        let own = ProfileText(
            name: "own",
            text: """
                extends = "base"
                url = "http://own.example/v1"
                [query]
                b = ""
                c = "3"
                [words]
                prompt = false
                [words.model]
                default = "small"
                [[formats]]
                codec = "wav"
                """)
        let profile = try ServiceProfile(texts: [own, base])
        #expect(try request(profile).service.url.text == "http://own.example/v1?a=1&c=3")
        #expect(profile.words.map(\.name) == ["model"])
        #expect(profile.words[0].standard == "small")
        #expect(profile.words[0].about == "the model")
        #expect(profile.formats.map(\.codec) == [.wav])
        #expect(profile.name == "own")
        #expect(
            profile.table["url"]?.place == SettingsPosition(line: 2, column: 7, file: "own.toml"))
        guard case .table(let query)? = profile.table["query"]?.value else {
            Issue.record("no query")
            return
        }
        #expect(query["a"]?.place == SettingsPosition(line: 3, column: 5, file: "base.toml"))
    }

    @Test func whatIsTakenAwayNeedNotBeThere() throws {
        let profile = try ServiceProfile(
            "url = 'http://a.example/'\nauth = false\nlimits = false\nlive = false")
        #expect(profile.authentication.token == nil)
    }

    @Test func whatAServiceLacksIsSaidBefore() throws {
        let profile = try ServiceProfile(
            """
            url = "https://{region}.a.example/{project}?l={language}"
            [words]
            region = "eu"
            project = {}
            language = { required = true, only = true, values = { en = "en-US" } }
            [[formats]]
            codec = "wav"
            """)
        let format = try profile.format(nil)
        func said(_ words: [String: String]) -> ProfileError? {
            do throws(ProfileError) {
                _ = try profile.service(words: words, format: format)
                return nil
            } catch { return error }
        }
        let name = "test"
        #expect(said([:]) == .missingWord("language", service: name))
        #expect(said(["language": "en"]) == .missingWord("project", service: name))
        #expect(
            said(["language": "fr", "project": "p"])
                == .valueNotTaken("fr", word: "language", service: name, taken: ["en"]))
        #expect(said(["language": "en-US", "project": "p"]) == nil)
        #expect(
            said(["model": "x"])
                == .unknownWord("model", service: name, known: ["region", "project", "language"]))
        #expect(
            said(["language": "en", "project": "p", "region": "evil.example/"])
                == .valueNotOfHost("evil.example/", word: "region", service: name))
        #expect(
            throws: ProfileError.formatNotTaken("flac", service: name, taken: ["wav"])
        ) { try profile.format(.flac) }
    }

    @Test(arguments: [
        (
            "url = 'foo bar'",
            "1:7: 'url': 'foo bar' is not a usable URL: it must begin with http:// or https://, without spaces"
        ),
        ("title = 'x'", "1:1: a profile needs a 'url'"),
        ("url = 1", "1:7: 'url' must be a string, not a whole number"),
        (
            "url = 'http://a/{langage}'",
            "1:7: '{langage}' is not a word of 'words'; did you mean '{language}'?"
        ),
    ])
    func aWrongURLIsRefusedAtItsPlace(text: String, message: String) {
        expectRefusal(of: text, message)
    }

    /// Each stands behind the line of the URL.
    @Test(arguments: [
        (
            "[headers]\n'X Y' = 'a'",
            "3:9: 'headers': header 'X Y' cannot be sent: a name is made of letters, digits and "
                + "!#$%&'*+-.^_`|~"
        ),
        (
            "[headers]\nX = \"a\\nb\"",
            "3:5: 'headers': header 'X' cannot be sent: its value holds a control character"
        ),
        ("[limits]\nseconds = nan", "3:11: 'limits.seconds' must be above 0 and at most 2592000"),
        ("[limits]\nbytes = -1", "3:9: 'limits.bytes' must be above 0"),
        (
            "[exchange]\nkind = 'job'\nseconds = nan",
            "4:11: 'exchange.seconds' must be 0 or more and at most 86400"
        ),
        (
            "[exchange]\nkind = 'job'\n[[exchange.steps]]\nseconds = inf",
            "5:11: 'exchange.steps.seconds' must be 0 or more and at most 3600"
        ),
        ("words = 1", "2:9: 'words' must be a table, not a whole number"),
        ("urll = 2", "2:1: 'urll' is not known; did you mean 'url'?"),
        (
            "[transfer]\nconnect = 5",
            "3:1: 'transfer.connect' is not known; did you mean 'transfer.connect-seconds'?"
        ),
        ("[query]\nx = '{wrd}'", "3:5: '{wrd}' is not a word of 'words'"),
        (
            "[query]\napi_key = 'abc'",
            "3:11: 'api_key' must not hold a secret; secrets belong in 'auth'"
        ),
        (
            "[headers]\nAuthorization = 'Bearer x'",
            "3:17: 'Authorization' must not hold a secret; secrets belong in 'auth'"
        ),
        ("[body]\nkind = 'jsn'", "3:8: 'body.kind' cannot be 'jsn'; did you mean 'json'?"),
        ("[body]\nkind = 'json'", "2:1: a body of kind 'json' needs a 'template'"),
        (
            "[body]\nkind = 'json'\ntemplate = '{}'",
            "4:12: 'body.template': the JSON body cannot be sent: {audio} must appear once, inside a string"
        ),
        (
            "[[formats]]\ncodec = 'mp3'",
            "3:9: 'formats.codec' must be pcm, wav, ogg-opus or flac, not 'mp3'"
        ),
        (
            "[limits]\nsecond = 1",
            "3:1: 'limits.second' is not known; did you mean 'limits.seconds'?"
        ),
        (
            "[words]\nRegion = 'x'",
            "3:10: 'words.Region' cannot be a word: it is made of small letters, digits, '-' and '_'"
        ),
        (
            "exchange.kind = 'job'\n[[exchange.steps]]\nname = 'upload'\nbody = 'recording'\n"
                + "capture = { Id = 'id' }",
            "6:18: 'exchange.steps.capture.Id' is not a word"
        ),
        (
            "[transfer]\nanswer-seconds = -1",
            "3:18: 'transfer.answer-seconds' must be above 0 and at most 86400"
        ),
        ("[query]\nx = '{take}'", "3:5: '{take}' cannot stand in a URL"),
        (
            "exchange.kind = 'job'\nbody.key-file = '/k'\n[[exchange.steps]]\nname = 'upload'\n"
                + "body = 'recording'",
            "3:1: 'body.key-file': the requests of a job travel unencrypted"
        ),
        ("x = [", "2:6: it is not valid TOML: Error while parsing array: encountered end-of-file"),
    ])
    func aWrongProfileIsRefusedAtItsPlace(text: String, message: String) {
        expectRefusal(of: "url = \"http://a/\"\n" + text, message)
    }

    private func expectRefusal(of text: String, _ message: String) {
        let error = #expect(throws: SettingsError.self) { try ServiceProfile(text) }
        #expect(error?.text(of: "-") == "test.toml:" + message)
    }
}

extension ServiceProfile {
    /// Reads one text, which is called `test`.
    init(_ text: String) throws(SettingsError) {
        try self.init(texts: [ProfileText(name: "test", text: text)])
    }
}
