internal import CYaml
internal import ServerSchema

/// What a YAML text may hold, found by a pass over its events, before a node is made of any.
enum YAMLBounds {
    /// The most values and keys of a file, together: a node takes some hundred bytes.
    static let mostNodes = 250_000
    /// The most levels of lists and mappings.
    static let mostLevels = 100

    /// Refuses aliases, which let a file of 500 bytes stand for gigabytes, and what is beyond the bounds.
    ///
    /// What is no YAML passes: its parser says why it is none.
    /// - Throws: ``LocatedError``.
    static func check(_ text: String, path: String) throws(LocatedError) {
        var text = text
        let refusal = text.withUTF8 { unsafe Self.refusal(of: $0, path: path) }
        if let refusal { throw refusal }
    }

    private static func refusal(of bytes: UnsafeBufferPointer<UInt8>, path: String) -> LocatedError? {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { unsafe parser.deallocate() }
        guard unsafe yaml_parser_initialize(parser) == 1 else { return nil }
        defer { unsafe yaml_parser_delete(parser) }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
        var (nodes, level) = (0, 0)
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { return nil }
            defer { unsafe yaml_event_delete(&event) }
            let mark = unsafe event.start_mark
            let place = SourceLocation(file: path, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
            switch unsafe event.type {
            case YAML_ALIAS_EVENT:
                return LocatedError("aliases are not read: write out what this one stands for", at: place)
            case YAML_SCALAR_EVENT: nodes += 1
            case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT:
                nodes += 1
                level += 1
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: level -= 1
            case YAML_STREAM_END_EVENT: return nil
            default: break
            }
            guard level <= mostLevels else {
                return LocatedError("values are nested deeper than \(mostLevels) levels", at: place)
            }
            guard nodes <= mostNodes else {
                return LocatedError("the file holds more than \(mostNodes) values: divide it", at: place)
            }
        }
    }
}
