/// Finds what Prisma refuses and the reader accepts, apart from relations.
///
/// Source: `psl-core/src/validate/validation_pipeline/validations`, `psl-core/src/builtin_connectors/mongodb` and
/// `parser-database/src/attributes` in prisma/prisma-engines. `docs/reference/prisma.md` has all of their checks.
extension PrismaLint {
    /// Returns the findings about the names of enums, and about the datasource.
    static func refusals(in prisma: PrismaSchema) -> [LintFinding] {
        let mode = prisma.datasource?.properties.first { $0.name.text == "relationMode" }
        let isPrisma = if case .string("prisma")? = mode?.value.value { true } else { mode == nil }
        let relationMode = isPrisma ? nil : mode?.name.location
        return prisma.enums.compactMap { name($0.name, of: "the enum", at: $0.location) }
            + [
                relationMode.map {
                    LintFinding(
                        .prismaRefused, .error, at: $0, "MongoDB has no foreign keys, which this relationMode needs",
                        remedy: "write relationMode = \"prisma\", or remove the line")
                }
            ].compactMap(\.self)
    }

    private static func name(_ name: String, of what: String, at location: SourceLocation) -> LintFinding? {
        guard PrismaSchema.reservedNames.contains(name) || name.contains("-") else { return nil }
        return LintFinding(
            .prismaRefused, .error, at: location,
            "\(what) \(name) has a name \(name.contains("-") ? "with a hyphen" : "that is reserved")",
            remedy: "name it otherwise")
    }

    /// Returns the findings about the model or type itself, its fields and its indexes.
    func refusals() -> [LintFinding] {
        var findings = [Self.name(model.name, of: isType ? "the type" : "the model", at: model.location)]
            .compactMap(\.self)
        if isType, model.fields.isEmpty {
            findings.append(refused("has no fields", remedy: "add one, or remove the type"))
        }
        if let attribute = model.attributes.first(where: { $0.name.text == "schema" }) {
            findings.append(
                refused(at: attribute.name.location, "has @@schema, which MongoDB does not have", remedy: "remove it"))
        }
        return findings + model.fields.flatMap(refusals) + refusalsOfIndexes() + (isType ? cycle() : [])
    }

    /// Returns the finding that each value of the type contains another one, without end.
    private func cycle() -> [LintFinding] {
        var (open, seen): ([String], Set<String>) = ([model.name], [])
        while let name = open.popLast() {
            for field in prisma.type(name)?.fields ?? [] where field.arity == .required {
                guard case .embedded(let next) = field.type else { continue }
                if next == model.name {
                    return [refused("contains itself in each of its values", remedy: "make a field optional or a list")]
                }
                if seen.insert(next).inserted { open.append(next) }
            }
        }
        return []
    }

    private func refusals(_ field: PrismaSchema.Field) -> [LintFinding] {
        var findings: [LintFinding] = []
        func refuse(_ attribute: PrismaSyntax.Attribute, _ message: String, remedy: String = "remove it") {
            findings.append(refused(field, at: attribute.name.location, message, remedy: remedy))
        }
        let isRelation = if case .relation = field.type { true } else { false }
        if field.name.contains("-") {
            findings.append(refused(field, "has a name with a hyphen", remedy: "name it otherwise, with @map"))
        }
        for attribute in field.attributes {
            let name = attribute.name.text
            switch name {
            case "unique", "updatedAt", "ignore":
                if isType { refuse(attribute, "has @\(name), which a field of a type cannot have") }
                if name == "unique", isRelation {
                    let keys = (field.relation?.fields ?? []).joined(separator: ", ")
                    refuse(attribute, "is a relation, which cannot be @unique", remedy: "make the key \(keys) unique")
                }
                if name == "ignore", model.isIgnored { refuse(attribute, "has @ignore in a model that is ignored") }
                if name == "ignore", field.type == .unsupported {
                    refuse(attribute, "has @ignore, and the client ignores its type already")
                }
                if name == "updatedAt", field.type != .scalar(.dateTime) || field.arity == .list {
                    refuse(attribute, "has @updatedAt and is no DateTime")
                }
            case "map":
                if isRelation { refuse(attribute, "is a relation, which is not stored and has no @map") }
            case "id":
                for argument in attribute.arguments.compactMap(\.name) {
                    refuse(attribute, "has an @id with \(argument.text), which MongoDB does not have")
                }
            case "default": findings += refusalsOfDefault(field, attribute)
            case _ where name.contains("."):
                let prefix = String(name.prefix { $0 != "." })
                if let source = prisma.datasource?.name.text, prefix != source {
                    refuse(
                        attribute, "has a native type of \(prefix), and the datasource is \(source)",
                        remedy: "write @\(source).\(name.dropFirst(prefix.count + 1))")
                }
                if !attribute.arguments.isEmpty, !name.hasSuffix(".Array") {
                    refuse(attribute, "has a native type with arguments, which MongoDB does not have")
                }
            default: break
            }
        }
        return findings
    }

    private func refusalsOfDefault(
        _ field: PrismaSchema.Field, _ attribute: PrismaSyntax.Attribute
    ) -> [LintFinding] {
        func refusal(_ message: String, _ remedy: String) -> LintFinding {
            refused(field, at: attribute.name.location, message, remedy: remedy)
        }
        var findings: [LintFinding] = []
        if attribute.argument("map") != nil {
            findings.append(refusal("has a default with a name, which MongoDB does not have", "remove map"))
        }
        guard
            case .function(let name, let arguments)? = attribute.arguments.first(where: { $0.name?.text != "map" })?
                .value.value
        else { return findings }
        let scalar = if case .scalar(let scalar) = field.type { Optional(scalar) } else { PrismaScalar?.none }
        switch name {
        case "autoincrement", "dbgenerated":
            findings.append(
                refusal("has the default \(name)(), which MongoDB does not have", "use auto() for an ObjectId"))
        case "auto": break
        default:
            let owner: PrismaScalar = name == "now" ? .dateTime : .string
            if scalar != owner || field.arity == .list {
                findings.append(
                    refusal("has the default \(name)() and is no \(owner.rawValue)", "change the type or the default"))
            }
        }
        let most = ["uuid", "cuid", "nanoid"].contains(name) ? 1 : 0
        let isNumber = arguments.allSatisfy { if case .number = $0.value.value { true } else { false } }
        let number = if case .number(let text)? = arguments.first?.value.value { Int(text) } else { Int?.none }
        let isAllowed =
            switch name {
            case "uuid": number.map { $0 == 4 || $0 == 7 } ?? true
            case "cuid": number.map { $0 == 1 || $0 == 2 } ?? true
            case "nanoid": number.map { (2...255).contains($0) } ?? true
            default: true
            }
        if name != "dbgenerated", arguments.count > most || !isNumber || !isAllowed {
            findings.append(refusal("has a default with arguments that \(name)() does not have", "write \(name)()"))
        }
        return findings
    }
}

extension PrismaSchema {
    /// The names that no model and no enum can have, because they are words of JavaScript.
    package static let reservedNames: Set = [
        "PrismaClient", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do",
        "else", "enum", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in",
        "instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public", "return",
        "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield",
    ]
}

// MARK: indexes

extension PrismaLint {
    private func refusalsOfIndexes() -> [LintFinding] {
        var findings: [LintFinding] = []
        var first: [[PrismaIndex.Field]: SourceLocation] = [:]
        var names: [String: SourceLocation] = [:]
        for index in isType ? [] : PrismaIndex.all(of: model) {
            let place = index.attribute.name.location
            func refuse(_ message: String, remedy: String) {
                findings.append(refused(at: place, "has \(index.mark) \(message)", remedy: remedy))
            }
            if index.fields.isEmpty { refuse("without fields", remedy: "name at least one field") }
            findings += index.fields.compactMap { field in
                // A search for similar names takes long, so only the first findings have its result.
                trouble(field.path, isSingle: index.fields.count == 1, hints: findings.count < 20).map {
                    refused(at: place, "has \(index.mark) over \(field.path)\($0.message)", remedy: $0.remedy)
                }
            }
            if Set(index.fields.map(\.path)).count < index.fields.count {
                refuse("that names a field twice", remedy: "remove one")
            }
            if let other = first.updateValue(place, forKey: index.fields) {
                refuse("over the same fields as another index", remedy: "remove one; the other is at \(other)")
            }
            if index.isUnique, index.fields.count == 1, model[index.fields[0].path]?.isID == true {
                refuse("over the @id, which is unique already", remedy: "remove \(index.mark)")
            }
            let alias = index.attribute.name.text == "index" ? index.text("name") : nil
            let usual = PrismaIndex.name(index.fields.map(\.path), isUnique: index.isUnique, of: model.collection)
            let name = index.text("map") ?? alias ?? usual
            if let other = names.updateValue(place, forKey: name) {
                refuse("with the name \(name) of another index", remedy: "change map; the other is at \(other)")
            }
            findings += refusalsOfArguments(index).map { refused(at: place, "has \(index.mark) \($0)", remedy: $1) }
        }
        return findings
    }

    /// Returns what makes a path of an index one that Prisma refuses; `nil` if it can be indexed.
    private func trouble(
        _ path: String, isSingle: Bool, hints: Bool
    ) -> (message: String, remedy: String)? {
        var (owner, parts) = (model, path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...])
        while let name = parts.popFirst() {
            guard let field = owner[name] else {
                let hint = hints ? Spelling.hint(for: name, among: owner.fields.map(\.name)) : nil
                return (", and \(owner.name) has no field \(name)", hint ?? "name a field of \(owner.name)")
            }
            switch field.type {
            case .relation:
                let keys = field.relation?.fields ?? []
                return (", which is a relation", keys.isEmpty ? "name a key" : "name \(keys.joined(separator: ", "))")
            case .embedded(let name):
                if let type = prisma.type(name) { owner = type }
                if parts.isEmpty, !isSingle {
                    return (", which is a type, together with other fields", "name a field in it, or only it")
                }
            case .scalar, .enumeration, .unsupported:
                if !parts.isEmpty { return (", and \(field.name) is no type with fields", "end the path there") }
            }
        }
        return nil
    }

    private func refusalsOfArguments(_ index: PrismaIndex) -> [(message: String, remedy: String)] {
        var findings: [(String, String)] = []
        let kind = index.isOnField ? "field" : index.attribute.name.text
        let known: [String: [String]] = [
            "field": ["map", "sort"], "unique": ["fields", "name", "map"], "index": ["fields", "name", "map", "type"],
            "fulltext": ["fields", "map"],
        ]
        let written = index.attribute.arguments.compactMap { $0.name?.text }
        for name in written where known[kind]?.contains(name) == false {
            findings.append(("with \(name), which it does not have on MongoDB", "remove it"))
        }
        for name in Set(index.fields.flatMap(\.arguments.keys)).subtracting(["sort"]).sorted() {
            findings.append(("with \(name) on a field, which it does not have on MongoDB", "remove it"))
        }
        for sort in index.fields.compactMap({ $0.arguments["sort"] }) where !["\"Asc\"", "\"Desc\""].contains(sort) {
            findings.append(("with the order \(sort)", "write sort: Asc or sort: Desc"))
        }
        for name in ["map", "name"] where index.text(name) == "" {
            findings.append(("with an empty \(name)", "remove \(name), or fill it"))
        }
        if case .word(let type)? = index.attribute.argument("type"), type != "BTree" {
            findings.append(("of type \(type), which MongoDB does not have", "remove type"))
        }
        if kind == "index", index.text("map") != nil, index.text("name") != nil {
            findings.append(("with map and name, which mean the same", "remove name"))
        }
        guard kind == "unique" else { return findings }
        let own = index.text("name")
        if let own, !own.utf8.allSatisfy({ PrismaLexer.isNamePart($0) }) {
            findings.append(("with a name that is no word of a program", "use letters, digits and _ in name"))
        }
        let name = own ?? index.fields.map(\.path).joined(separator: "_")
        if own != nil || index.fields.count > 1, model[name] != nil {
            findings.append(("that the client calls \(name), as a field", "add another name: \"…\""))
        }
        return findings
    }
}
