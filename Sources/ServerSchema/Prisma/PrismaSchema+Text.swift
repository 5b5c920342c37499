internal import BSON

extension PrismaSchema {
    /// The text, which ends with a line break.
    ///
    /// The text has the attributes `@id`, `@unique`, `@map`, `@@map` and `@db`, the lines in
    /// ``Model/lastLines``, and also `@default` if the default is a function. All other attributes are left out.
    package var text: String {
        let head = """
            datasource db {
              provider = "mongodb"
              url      = env("DATABASE_URL")
            }

            generator client {
              provider = "prisma-client-js"
            }
            """
        let blocks = models.map { $0.block("model") } + types.map { $0.block("type") } + enums.map(\.block)
        return ([head] + blocks).joined(separator: "\n\n") + "\n"
    }
}

extension PrismaSchema.Model {
    fileprivate func block(_ keyword: String) -> String {
        let rows = fields.map { [$0.name, $0.typeText, $0.attributeText] }
        let widths = (0..<2).map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = zip(fields, rows).flatMap { field, row in
            let cells = zip(row, widths).map { text, width in
                text + String(repeating: " ", count: max(0, width - text.count))
            }
            let comment = field.comment.map { ["  /// \($0)"] } ?? []
            return comment + ["  " + String((cells + [row[2]]).joined(separator: " ").trimmedEnd)]
        }
        var last = lastLines
        if keyword == "model", collection != name { last.append("@@map(\(collection.quotedAsJSON))") }
        if !last.isEmpty { lines += [""] + last.map { "  \($0)" } }
        return (["\(keyword) \(name) {"] + lines + ["}"]).joined(separator: "\n")
    }
}

extension PrismaSchema.Field {
    fileprivate var typeText: String {
        let name =
            switch type {
            case .scalar(let scalar): scalar.rawValue
            case .enumeration(let name), .embedded(let name), .relation(let name): name
            case .unsupported: "Unsupported(\"\")"
            }
        return switch arity {
        case .required: name
        case .optional: name + "?"
        case .list: name + "[]"
        }
    }

    fileprivate var attributeText: String {
        var parts = isID ? ["@id"] : []
        if case .function(let name)? = defaultValue { parts.append("@default(\(name)())") }
        if isUnique { parts.append("@unique\(uniqueArguments)") }
        if storedName != name { parts.append("@map(\(storedName.quotedAsJSON))") }
        if let nativeType { parts.append("@db.\(nativeType.type.rawValue)") }
        return parts.joined(separator: " ")
    }
}

extension PrismaSchema.Enumeration {
    fileprivate var block: String {
        let lines = values.map { value in
            "  \(value.name)" + (value.storedName == value.name ? "" : " @map(\(value.storedName.quotedAsJSON))")
        }
        return (["enum \(name) {"] + lines + ["}"]).joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmedEnd: Substring {
        guard let last = lastIndex(where: { $0 != " " }) else { return "" }
        return self[...last]
    }
}
