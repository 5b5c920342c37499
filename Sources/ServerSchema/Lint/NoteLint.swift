/// Turns the notes of the schema reader into lint findings.
enum NoteLint {
    static func findings(in schema: ServerSchema) -> [LintFinding] {
        schema.notes.compactMap { note in
            guard let rule = rules[note.code] else { return nil }
            return LintFinding(
                rule.code, rule.level, namespace: note.namespace, path: note.path, at: note.location, note.message,
                remedy: rule.remedy ?? note.remedy)
        }
    }

    private static let rules: [SchemaNote.Code: (code: LintFinding.Code, level: LintFinding.Level, remedy: String?)] = [
        .invalid: (.schemaInvalid, .error, nil),
        .unknownKeyword: (.unknownKeyword, .warning, nil),
        .misspeltKeyword: (.unknownKeyword, .error, nil),
        .jsonTypeUsed: (.jsonTypeUsed, .warning, nil),
        .typeSpelling: (.typeSpelling, .warning, nil),
        .placeholder: (.schemaMissing, .info, nil),
        .defaultNull: (.defaultNull, .warning, "leave the default out"),
        .otherService: (.serviceNotSynced, .info, nil),
        .linkUnresolved: (.linkRefUnresolved, .error, nil),
    ]
}
