// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A JSON Schema of `docs`, by which what the program prints is judged.
struct Schema {
    /// Reads a schema, and judges the values of standard input by it.
    ///
    /// No member is allowed that it does not describe: the program prints none but these. A
    /// reference to another file is an error: not every validator finds it.
    private static let script = """
        import json, sys, warnings
        warnings.simplefilter("ignore")
        import jsonschema
        def strict(node):
            if isinstance(node, dict):
                for value in node.values(): strict(value)
                if "properties" in node and "type" in node: node["additionalProperties"] = False
            elif isinstance(node, list):
                for value in node: strict(value)
            return node
        schema = strict(json.load(open(sys.argv[1])))
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        text, decoder, at, count = sys.stdin.read(), json.JSONDecoder(), 0, 0
        while text[at:].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            value, at = decoder.raw_decode(text, at)
            for error in validator.iter_errors(value):
                sys.exit(f"{error.json_path}: {error.message[:300]}")
            count += 1
        print(count)
        """

    /// The file's name in `docs`.
    let name: String

    /// Judges values that stand one behind the other.
    ///
    /// - Returns: how many there are.
    /// - Throws: the validator's words when one of them is not as the schema says.
    func judge(_ values: [UInt8]) throws -> Int {
        let path = SourceTree.path("docs/\(name).schema.json")
        let judged = try ForeignTool("python3").run(["-c", Self.script, path], input: values)
        return Int(judged.text.filter { $0 != "\n" }) ?? 0
    }
}
