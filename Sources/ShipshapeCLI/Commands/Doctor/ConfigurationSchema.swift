internal import BSON

/// The JSON Schema of `shipshape.yml`, generated from the table of settings.
enum ConfigurationSchema {
    static var text: String {
        let settings = Known.all.map { $0.property }
        let protected = property(
            "protected", "boolean", "whether a command asks for the environment's name before it writes there")
        let hooks = Hook.allCases.map { property($0.rawValue, "string", "the command at this event") }
        return """
            {
              "$schema": "http://json-schema.org/draft-07/schema#",
              "title": "shipshape.yml",
              "type": "object",
              "additionalProperties": false,
              "properties": {
            \(lines(settings, indent: "    ")),
                "schema": {
                  "description": "the schema that check, lint and doctor read if the command line names none",
                  "type": "string"
                },
                "thresholds": {
                  "description": "how many documents of a collection may fail a check, or how many by one rule",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "required": ["collection", "max-failing"],
                    "additionalProperties": false,
                    "properties": {
                      "collection": { "type": "string", "pattern": "^[^.]+\\\\..+$" },
                      "rule": { "type": "string" },
                      "max-failing": { "type": ["string", "integer"], "pattern": "^[0-9.]+%?$" }
                    }
                  }
                },
                "unique": {
                  "description": "unique indexes that collections with a validator shall get",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "required": ["collection", "fields"],
                    "additionalProperties": false,
                    "properties": {
                      "collection": { "type": "string", "pattern": "^[^.]+\\\\..+$" },
                      "fields": { "type": "array", "items": { "type": "string" } },
                      "name": { "type": "string" },
                      "sparse": { "type": "boolean" },
                      "collation": { "type": "object" },
                      "partialFilterExpression": { "type": "object" }
                    }
                  }
                },
                "renames": {
                  "description": "renames between versions of the schema, as OLD=NEW",
                  "type": "array",
                  "items": { "type": "string", "pattern": "=" }
                },
                "removed": {
                  "description": "fields that versions of the schema removed for good, as DATABASE.COLLECTION.PATH",
                  "type": "array",
                  "items": { "type": "string", "pattern": "^[^.]+\\\\..+\\\\..+$" }
                },
                "on": {
                  "description": "shell commands to run at events of a run, as --on takes them",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
            \(lines(hooks, indent: "        "))
                  }
                },
                "environments": {
                  "description": "named sections; the one that --env names overrides the settings of the file",
                  "type": "object",
                  "additionalProperties": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
            \(lines(settings + [protected], indent: "          "))
                    }
                  }
                }
              }
            }
            """
    }

    private static func lines(_ properties: [String], indent: String) -> String {
        properties.map { indent + $0 }.joined(separator: ",\n")
    }

    fileprivate static func property(_ name: String, _ type: String, _ meaning: String) -> String {
        "\(name.quotedAsJSON): { \"type\": \"\(type)\", \"description\": \(meaning.quotedAsJSON) }"
    }
}

extension AnySetting {
    fileprivate var property: String {
        let type =
            switch kind {
            case .text: "string"
            case .count: "integer"
            case .flag: "boolean"
            }
        return ConfigurationSchema.property(name, type, meaning)
    }
}
