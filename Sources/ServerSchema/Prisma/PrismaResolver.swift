internal import BSON

/// Resolves the names in Prisma files to models, types and enums, and collects all errors.
struct PrismaResolver {
    var errors: [SchemaError] = []
    private var blocks: [PrismaSyntax.Block] = []
    private var kinds: [String: String] = [:]
    /// The enums by their names.
    ///
    /// The enums are resolved before the fields, because the default of a field may be a value of an enum.
    private(set) var enums: [String: PrismaSchema.Enumeration] = [:]

    mutating func add(_ blocks: [PrismaSyntax.Block]) { self.blocks += blocks }

    /// Whether there are so many errors that no more of them are collected.
    var isFull: Bool { errors.count >= PrismaLexer.mostErrors }

    /// Adds an error; after many errors without the remedy, because a search for similar names takes long.
    mutating func fail(
        _ code: SchemaError.Code, at location: SourceLocation, _ message: String,
        remedy: @autoclosure () -> String? = nil
    ) {
        guard !isFull else { return }
        errors.append(
            SchemaError(code, at: location, message, remedy: errors.count < SchemaError.mostShown ? remedy() : nil))
    }

    /// Adds the models, types and enums of the blocks to `schema`.
    mutating func resolve(into schema: inout PrismaSchema) {
        checkProvider(of: &schema)
        declare()
        for block in blocks where block.keyword.text == "enum" {
            let read = enumeration(block)
            schema.enums.append(read)
            enums[read.name] = enums[read.name] ?? read
        }
        for block in blocks {
            switch block.keyword.text {
            case "model": schema.models.append(model(block))
            case "type": schema.types.append(model(block))
            case "view":
                schema.notes.append(
                    SchemaNote(
                        location: block.name.location, message: "the view \"\(block.name.text)\" is not judged"))
            default: break
            }
        }
        checkCollections(of: schema.models)
        checkRelations(of: schema)
        checkNesting(of: schema)
    }

    /// Reports a field below which types are nested more deeply than a schema may be.
    ///
    /// A type inside itself is not followed, because it is one type, however deep its values are.
    private mutating func checkNesting(of schema: PrismaSchema) {
        var heights: [String: Int] = [:]
        do throws(SchemaError) {
            for model in schema.types + schema.models { _ = try height(of: model, in: schema, depth: 1, &heights) }
            if !isFull { try checkReach(of: schema) }
        } catch {
            errors.append(error)
        }
    }

    /// Refuses a schema of very many fields: what compiles a model's schema compiles each type in it once.
    private func checkReach(of schema: PrismaSchema) throws(SchemaError) {
        var count = 0
        for model in schema.models {
            var (open, seen): ([PrismaSchema.Model], Set<String>) = ([model], [])
            while let next = open.popLast() {
                count += 1 + next.fields.count
                guard count <= SchemaNode.mostFields else {
                    throw SchemaError(
                        .tooLarge, at: model.location,
                        "the models, with the types in them, have more than \(SchemaNode.mostFields) fields",
                        remedy: "divide the schema")
                }
                for case .embedded(let name) in next.fields.map(\.type) where seen.insert(name).inserted {
                    if let type = schema.type(name) { open.append(type) }
                }
            }
        }
    }

    /// Returns the number of levels of a model or a type; 0 for a type that is being measured.
    private func height(
        of model: PrismaSchema.Model, in schema: PrismaSchema, depth: Int, _ heights: inout [String: Int]
    ) throws(SchemaError) -> Int {
        if let known = heights[model.name] { return known }
        heights[model.name] = 0
        var height = 1
        for field in model.fields {
            guard case .embedded(let name) = field.type, let type = schema.type(name) else { continue }
            let own = field.arity == .list ? 2 : 1
            if depth < SchemaNode.maximumDepth {
                height = max(height, own + (try self.height(of: type, in: schema, depth: depth + 1, &heights)))
            }
            guard depth < SchemaNode.maximumDepth, height <= SchemaNode.maximumDepth else {
                throw .tooDeep(at: field.location)
            }
        }
        heights[model.name] = height
        return height
    }

    private mutating func checkProvider(of schema: inout PrismaSchema) {
        let sources = blocks.filter { $0.keyword.text == "datasource" }
        guard let source = sources.first else {
            // If a line of the files could not be read, a missing datasource block is not reported, because the line
            // may be part of such a block.
            guard errors.isEmpty else { return }
            return fail(
                .schemaMissing, at: SourceLocation(whole: schema.files.first?.path ?? ""),
                "there is no datasource block, which says that the schema is for MongoDB",
                remedy: "give the whole folder, or add datasource db { provider = \"mongodb\" … }")
        }
        for other in sources.dropFirst() {
            fail(
                .duplicate, at: other.keyword.location, "a second datasource",
                remedy: "the first is at \(source.keyword.location)")
        }
        guard let provider = source.properties.first(where: { $0.name.text == "provider" }) else {
            return fail(
                .schemaMissing, at: source.name.location, "the datasource has no provider",
                remedy: "write provider = \"mongodb\"")
        }
        (schema.url, schema.datasource) = (Self.url(of: source), source)
        if case .string("mongodb") = provider.value.value { return }
        let named = if case .string(let text) = provider.value.value { text.quotedAsJSON } else { provider.value.words }
        fail(
            .unsupported, at: provider.value.location, "the provider is \(named), and not \"mongodb\"",
            remedy: "only a schema for MongoDB describes documents")
    }

    private static func url(of source: PrismaSyntax.Block) -> PrismaSchema.URL? {
        switch source.properties.first(where: { $0.name.text == "url" })?.value.value {
        case .string(let text)?: return .text(text)
        case .function("env", let arguments)?:
            guard case .string(let name)? = arguments.first?.value.value else { return nil }
            return .variable(name)
        default: return nil
        }
    }

    private mutating func declare() {
        var first: [String: SourceLocation] = [:]
        for block in blocks where ["model", "type", "enum", "view"].contains(block.keyword.text) {
            let name = block.name
            if let other = first[name.text] {
                fail(
                    .duplicate, at: name.location, "a second \(block.keyword.text) with the name \"\(name.text)\"",
                    remedy: "rename or remove one; the first is at \(other)")
                continue
            }
            if PrismaScalar(rawValue: name.text) != nil {
                fail(
                    .duplicate, at: name.location, "\"\(name.text)\" is the name of a scalar type",
                    remedy: "rename it")
            }
            first[name.text] = name.location
            kinds[name.text] = block.keyword.text
        }
    }

    private mutating func enumeration(_ block: PrismaSyntax.Block) -> PrismaSchema.Enumeration {
        var result = PrismaSchema.Enumeration(name: block.name.text, location: block.name.location)
        for line in block.fields {
            var value = PrismaSchema.Enumeration.Value(
                name: line.name.text, location: line.name.location, storedName: line.name.text)
            for attribute in line.attributes {
                if attribute.name.text == "map" {
                    value.storedName = text(of: attribute) ?? value.storedName
                } else {
                    unknown(attribute, among: ["map"], of: "a value of an enum")
                }
            }
            result.values.append(value)
        }
        checkUnique(result.values.map { ($0.name, $0.location) }, "value", of: block)
        checkUnique(result.values.map { ($0.storedName, $0.location) }, "stored value", of: block)
        for attribute in block.attributes where !["map", "schema"].contains(attribute.name.text) {
            unknown(attribute, among: ["map"], of: "an enum", mark: "@@")
        }
        if result.values.isEmpty {
            fail(.schemaMissing, at: block.name.location, "the enum \"\(block.name.text)\" has no values")
        }
        return result
    }

    private mutating func checkUnique(
        _ names: [(text: String, location: SourceLocation)], _ what: String, of block: PrismaSyntax.Block
    ) {
        var first: [String: SourceLocation] = [:]
        for name in names where !isFull {
            guard let other = first[name.text] else {
                first[name.text] = name.location
                continue
            }
            // If another error was already reported at this position, the repeated name is not reported as a second
            // error.
            if errors.contains(where: { $0.location == name.location }) { continue }
            fail(
                .duplicate, at: name.location,
                "\(block.keyword.text) \"\(block.name.text)\" has the \(what) \"\(name.text)\" twice",
                remedy: "rename or remove one; the first is at \(other)")
        }
    }
}

// MARK: models and types

extension PrismaResolver {
    private static let modelAttributes = ["map", "id", "unique", "index", "fulltext", "ignore", "schema"]

    private mutating func model(_ block: PrismaSyntax.Block) -> PrismaSchema.Model {
        let isModel = block.keyword.text == "model"
        var model = PrismaSchema.Model(
            name: block.name.text, location: block.name.location, collection: block.name.text)
        model.attributes = block.attributes
        for line in block.fields {
            guard let field = field(line, of: block) else { continue }
            model.fields.append(field)
        }
        checkUnique(model.fields.map { ($0.name, $0.location) }, "field", of: block)
        let read = model.fields.filter(\.isRead)
        let stored = read.map { (isModel && $0.isID ? "_id" : $0.storedName, $0.location) }
        checkUnique(stored, "stored field", of: block)
        for attribute in block.attributes {
            switch attribute.name.text {
            case _ where !isModel: unknown(attribute, among: [], of: "a type", mark: "@@")
            case "map":
                model.collection = text(of: attribute) ?? model.collection
                if model.collection.contains("$") || [".", "system."].contains(where: model.collection.hasPrefix) {
                    fail(
                        .wrongValue, at: attribute.name.location,
                        "@@map: the name of a collection cannot have $ in it, or begin with a dot or with system.")
                }
            case "ignore": model.isIgnored = true
            case "id":
                fail(
                    .unsupported, at: attribute.name.location, "MongoDB has no ids of several fields",
                    remedy: "mark one field with @id @map(\"_id\")")
            case let name where Self.modelAttributes.contains(name): break
            default: unknown(attribute, among: Self.modelAttributes, of: "a model", mark: "@@")
            }
        }
        checkID(of: model, in: block)
        return model
    }

    private mutating func checkID(of model: PrismaSchema.Model, in block: PrismaSyntax.Block) {
        let ids = model.fields.filter(\.isID)
        guard block.keyword.text == "model" else {
            for id in ids {
                fail(.conflict, at: id.location, "a type has no @id: only models have one", remedy: "remove @id")
            }
            return
        }
        for other in ids.dropFirst() {
            fail(
                .duplicate, at: other.location, "model \"\(model.name)\" has two fields with @id",
                remedy: "remove one; the first is at \(ids[0].location)")
        }
        for id in ids where id.arity != .required {
            fail(.conflict, at: id.location, "the @id must be required", remedy: "remove '?' or '[]' from its type")
        }
        // If the line of the field with `@id` has an error, `ids` does not contain the field. A missing `@id` is not
        // reported then, because the error in that line was reported already.
        let hasOtherID = block.attributes.contains { $0.name.text == "id" }
        if ids.isEmpty, !hasOtherID, !block.fields.contains(where: { $0.attributes.contains { $0.name.text == "id" } })
        {
            fail(
                .schemaMissing, at: model.location, "model \"\(model.name)\" has no field with @id",
                remedy: "add id String @id @default(auto()) @map(\"_id\") @db.ObjectId")
        }
    }

    private mutating func field(
        _ line: PrismaSyntax.Field, of block: PrismaSyntax.Block
    ) -> PrismaSchema.Field? {
        guard let written = line.type, let type = type(written, of: block) else { return nil }
        var field = PrismaSchema.Field(
            name: line.name.text, location: line.name.location, storedName: line.name.text, type: type,
            arity: written.arity)
        field.deprecation = Deprecation(in: line.documentation)
        field.attributes = line.attributes
        var seen: Set<String> = []
        for attribute in line.attributes {
            let name = attribute.name.text.hasPrefix("db.") ? "db" : attribute.name.text
            guard seen.insert(name).inserted else {
                fail(.duplicate, at: attribute.name.location, "@\(attribute.name.text) is written twice on this field")
                continue
            }
            apply(attribute, to: &field)
        }
        return field
    }

    private mutating func type(
        _ written: PrismaSyntax.TypeName, of block: PrismaSyntax.Block
    ) -> PrismaSchema.FieldType? {
        let name = written.name
        if written.isUnsupported { return .unsupported }
        if let scalar = PrismaScalar(rawValue: name.text) { return .scalar(scalar) }
        switch kinds[name.text] {
        case "enum": return .enumeration(name.text)
        case "type": return .embedded(name.text)
        case "model", "view":
            if block.keyword.text != "type" { return .relation(name.text) }
            fail(
                .wrongValue, at: name.location,
                "a type cannot have a field of the \(kinds[name.text] ?? "") "
                    + "\"\(name.text)\"", remedy: "make \"\(name.text)\" a type, or store its id")
        default:
            let kinds = kinds
            fail(
                .unknownType, at: name.location, "unknown type \"\(name.text)\"",
                remedy: name.text == "Decimal"
                    ? "Prisma has no Decimal on MongoDB: use Float or String"
                    : Spelling.hint(for: name.text, among: PrismaScalar.allCases.map(\.rawValue) + kinds.keys.sorted()))
        }
        return nil
    }

    private mutating func checkCollections(of models: [PrismaSchema.Model]) {
        var first: [String: PrismaSchema.Model] = [:]
        for model in models where kinds[model.name] == "model" {
            guard let other = first[model.collection] else {
                first[model.collection] = model
                continue
            }
            if other.name == model.name { continue }
            fail(
                .namespaceDuplicate, at: model.location,
                "the models \"\(other.name)\" and \"\(model.name)\" have the same collection \"\(model.collection)\"",
                remedy: "change one @@map; \"\(other.name)\" is at \(other.location)")
        }
    }

    private mutating func checkRelations(of schema: PrismaSchema) {
        for model in schema.models {
            for field in model.fields {
                guard case .relation(let name) = field.type, let relation = field.relation,
                    let target = schema.model(name)
                else { continue }
                let missing =
                    relation.fields.filter { model[$0] == nil }.map { ($0, model) }
                    + relation.references.filter { target[$0] == nil }.map { ($0, target) }
                for (name, owner) in missing {
                    fail(
                        .wrongValue, at: field.location,
                        "@relation of \"\(field.name)\": model \"\(owner.name)\" has no field \"\(name)\"",
                        remedy: Spelling.hint(for: name, among: owner.fields.map(\.name)))
                }
                if relation.fields.count != relation.references.count {
                    fail(
                        .wrongValue, at: field.location,
                        "@relation of \"\(field.name)\" has \(relation.fields.count) in fields, and "
                            + "\(relation.references.count) in references",
                        remedy: "name as many of one as of the other")
                }
            }
        }
    }
}
