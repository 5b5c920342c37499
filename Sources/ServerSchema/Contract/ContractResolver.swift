internal import BSON

/// Makes the schemas in the validators of a `contract.prisma`, by the rules of Prisma 8.
///
/// Source: `interpreter.ts` and `derive-json-schema.ts` in `packages/2-mongo-family/2-authoring/contract-psl` of
/// prisma/prisma at ``release``.
struct ContractResolver {
    /// The release whose files and validators are known.
    static let release = "8.0.0-rc.5"

    private(set) var errors: [SchemaError] = []
    private(set) var notes: [SchemaNote] = []
    private var blocks: [PrismaSyntax.Block] = []
    private var named: [String: PrismaSyntax.Block] = [:]
    private var nodeCount = 0

    private static let scalars: [String: SchemaType] = [
        "String": .string, "Int": .int, "Boolean": .bool, "DateTime": .date, "ObjectId": .objectId, "Float": .double,
    ]
    /// The types that an enum can name with `@@type`.
    private static let codecs: [String: SchemaType] = [
        "mongo/string@1": .string, "mongo/int32@1": .int, "mongo/double@1": .double, "mongo/bool@1": .bool,
    ]
    /// The most fields of all validators together; types that contain each other several times multiply them.
    private static let mostNodes = 100_000

    mutating func add(_ read: [PrismaSyntax.Block], _ errors: [SchemaError]) {
        self.errors += errors
        for block in read {
            let (keyword, name) = (block.keyword.text, block.name.text)
            if !["model", "type", "enum"].contains(keyword) {
                fail(.unsupported, block.keyword, "a contract of Prisma 8 has no \(keyword) block", "remove it")
            } else if let first = named[name] {
                fail(.duplicate, block.name, "a second block \"\(name)\"", "the first is at \(first.name.location)")
            } else {
                blocks.append(block)
                named[name] = block
            }
        }
    }

    private mutating func fail(
        _ code: SchemaError.Code, _ name: PrismaSyntax.Name, _ message: String, _ remedy: String? = nil
    ) {
        let error = SchemaError(code, at: name.location, message, remedy: remedy)
        // A type is resolved for each field that has it.
        if !errors.contains(error) { errors.append(error) }
    }

    mutating func resolve() -> [String: SchemaNode] {
        for block in blocks where block.keyword.text == "type" { _ = object(block, inside: [block.name.text]) }
        let models = blocks.filter { $0.keyword.text == "model" }
        let variants = variants(of: models)
        var roots: [String: SchemaNode] = [:]
        for model in models where model.attributes["base"] == nil {
            let root = root(model, variants[model.name.text] ?? [])
            if let other = roots.updateValue(root, forKey: model.collection) {
                let message = "\"\(other.title ?? "")\" has the same collection; only this model's validator is applied"
                notes.append(SchemaNote(location: model.name.location, message: message))
            }
        }
        if models.isEmpty, errors.isEmpty {
            let place = blocks.first?.name ?? PrismaSyntax.Name(text: "", location: SourceLocation(whole: "contract"))
            fail(.schemaMissing, place, "the contract has no model", "give the whole contract")
        }
        return roots
    }
}

// MARK: fields

extension ContractResolver {
    /// Returns the closed schema of the objects that a model or a type describes.
    /// - Parameter open: The names of the types that contain the object.
    private mutating func object(_ block: PrismaSyntax.Block, inside open: [String] = []) -> SchemaNode {
        var node = SchemaNode(location: block.name.location)
        (node.types, node.hasProperties) = ([.object], true)
        (node.hasAdditionalProperties, node.additionalProperties) = (true, .forbidden)
        for line in block.fields {
            guard let value = value(line, of: block, inside: open) else { continue }
            let name = block.storedName(of: line)
            guard node.property(name) == nil else {
                fail(.duplicate, line.name, "the stored field \"\(name)\" is there twice", "rename or remove one")
                continue
            }
            if block.keyword.text == "type", let map = line.attributes["map"] {
                let message = "Prisma \(Self.release) ignores @map in a type: the field is \"\(name)\""
                notes.append(SchemaNote(location: map.name.location, message: message))
            }
            node.properties.append(SchemaNode.Property(name: name, node: value))
            if let type = line.type, type.arity != .optional, !type.isOptionalList { node.required.append(name) }
        }
        return node
    }

    /// Returns the schema of a field; `nil` for a relation, and for a type with an error.
    private mutating func value(
        _ line: PrismaSyntax.Field, of block: PrismaSyntax.Block, inside open: [String]
    ) -> SchemaNode? {
        guard let written = line.type, let single = single(written.name, line, of: block, inside: open) else {
            return nil
        }
        var node = single
        nodeCount += 1
        switch written.arity {
        case .required: return node
        case .list:
            var list = SchemaNode(location: node.location)
            (list.types, list.items) = ([.array], .each(node))
            return list
        case .optional where node.types == [.object]:
            var (null, either) = (SchemaNode(location: node.location), SchemaNode(location: node.location))
            null.types = [.null]
            either.constraints.combinations = [Constraints.Combination(kind: .oneOf, nodes: [null, node])]
            return either
        case .optional:
            node.types.insert(.null, at: 0)
            node.constraints.allowedValues?.append(.null)
            return node
        }
    }

    private mutating func single(
        _ type: PrismaSyntax.Name, _ line: PrismaSyntax.Field, of block: PrismaSyntax.Block, inside open: [String]
    ) -> SchemaNode? {
        if let old = line.attributes.first(where: { $0.name.text.hasPrefix("db.") }) {
            fail(.unsupported, old.name, "@\(old.name.text) is of Prisma 6", "Prisma 8 has types, such as ObjectId")
        }
        var node = SchemaNode(location: line.name.location)
        let own = named[type.text]
        switch own?.keyword.text {
        case nil:
            node.types = Self.scalars[type.text].map { [$0] } ?? []
            if !node.types.isEmpty { return node }
            let known = Self.scalars.keys.sorted()
            fail(
                .unknownType, type, "Prisma \(Self.release) has no type \"\(type.text)\" for MongoDB",
                Spelling.hint(for: type.text, among: known + named.keys.sorted())
                    ?? "its types are \(known.joined(separator: ", "))")
        case "enum"?: return own.flatMap { enumeration($0, at: line.name.location) }
        case "type"? where open.contains(type.text) || nodeCount > Self.mostNodes:
            fail(.conflict, type, "no validator can hold the type \"\(type.text)\", which contains itself or too much")
        case "type"?:
            guard let own else { return nil }
            node = object(own, inside: open + [type.text])
            node.location = line.name.location
            return node
        default:
            if block.keyword.text == "type" {
                fail(.wrongValue, type, "a type has no relations", "store the model's id")
            }
        }
        return nil
    }

    private mutating func enumeration(_ block: PrismaSyntax.Block, at location: SourceLocation) -> SchemaNode? {
        var values: [BSONValue] = []
        for line in block.fields {
            let value: BSONValue
            switch line.value?.value {
            case nil: value = .string(line.name.text)
            case .string(let text)?: value = .string(text)
            case .number(let text)?: value = Int32(text).map { .int($0) } ?? .double(Double(text) ?? .nan)
            case .word(let word)?: value = .bool(word == "true")
            default: value = .null
            }
            if values.contains(value) { fail(.duplicate, line.name, "the enum has this stored value twice") }
            values.append(value)
        }
        let kinds = Set(values.map { "\($0.type)" })
        let stated = block.attributes["type"].map { Self.codecs[$0.text ?? ""] }
        guard let type = stated ?? kinds.first.flatMap({ SchemaType(rawValue: $0) }), kinds.count == 1,
            kinds == [type.rawValue] || type == .double && kinds == ["int"]
        else {
            fail(
                .wrongValue, block.name, "the values of the enum \"\(block.name.text)\" do not have one known type",
                "add @@type(\"mongo/string@1\") or @@type(\"mongo/int32@1\") and values of it")
            return nil
        }
        var node = SchemaNode(location: location)
        (node.types, node.constraints.allowedValues) = ([type], values)
        return node
    }
}

// MARK: models

extension ContractResolver {
    /// A model that is stored in the collection of its base, and the value of the base's discriminator that selects it.
    private typealias Variant = (model: PrismaSyntax.Block, value: String)

    private mutating func root(_ model: PrismaSyntax.Block, _ variants: [Variant]) -> SchemaNode {
        var root = object(model)
        root.title = model.name.text
        let id = root.property("_id")
        if errors.isEmpty, id?.types != [.objectId] || !model.fields.contains(where: { $0.attributes["id"] != nil }) {
            fail(
                .schemaMissing, model.name, "the model \"\(model.name.text)\" has no _id of type ObjectId",
                "write id ObjectId @id @map(\"_id\")")
        }
        guard let discriminator = model.attributes["discriminator"] else { return root }
        let line = model.fields.first { $0.name.text == discriminator.word }
        let field = line.map(model.storedName) ?? ""
        if root.property(field)?.types != [.string] || variants.isEmpty && errors.isEmpty {
            fail(
                .wrongValue, discriminator.name,
                "@@discriminator of \"\(model.name.text)\" needs a field of type String and a model with this @@base")
        }
        let kinds = variants.map { variant in
            var kind = object(variant.model)
            var selecting = SchemaNode(location: variant.model.name.location)
            selecting.constraints.allowedValues = [.string(variant.value)]
            kind.types = []
            kind.required = [field] + kind.required.filter { root.property($0) == nil }
            kind.properties =
                root.properties.map { $0.name == field ? .init(name: field, node: selecting) : $0 }
                + kind.properties.filter { root.property($0.name) == nil }
            return kind
        }
        (root.hasAdditionalProperties, root.additionalProperties) = (false, .allowed)
        root.constraints.combinations = [Constraints.Combination(kind: .oneOf, nodes: kinds)]
        return root
    }

    private mutating func variants(of models: [PrismaSyntax.Block]) -> [String: [Variant]] {
        var result: [String: [Variant]] = [:]
        for model in models {
            let bases = model.attributes.filter { $0.name.text == "base" }
            guard let base = bases.first else { continue }
            let owner = models.first { $0.name.text == base.word }
            let value = base.arguments.dropFirst().first?.value.value
            if bases.count > 1 {
                fail(.conflict, bases[1].name, "\"\(model.name.text)\" has two bases", "keep one @@base")
            } else if model.attributes["discriminator"] != nil {
                fail(.conflict, base.name, "\"\(model.name.text)\" has both @@base and @@discriminator", "remove one")
            } else if owner?.attributes["discriminator"] == nil {
                fail(.wrongValue, base.name, "the base \"\(base.word ?? "")\" is no model with @@discriminator")
            } else if model.attributes["map"] != nil, model.collection != owner?.collection {
                fail(.conflict, base.name, "a model is stored in the collection of its base", "remove @@map")
            } else if let owner, case .string(let value) = value {
                if let other = result[owner.name.text]?.first(where: { $0.value == value }) {
                    let message = "\(value.quotedAsJSON) selects \"\(other.model.name.text)\" already"
                    fail(.duplicate, base.name, message, "give each model a value of its own")
                }
                result[owner.name.text, default: []].append((model, value))
            } else {
                fail(.wrongValue, base.name, "@@base needs a value of the discriminator, as @@base(Post, \"article\")")
            }
        }
        return result
    }
}

extension [PrismaSyntax.Attribute] {
    fileprivate subscript(name: String) -> PrismaSyntax.Attribute? { first { $0.name.text == name } }
}

extension PrismaSyntax.Block {
    fileprivate var collection: String {
        attributes["map"]?.text ?? name.text.prefix(1).lowercased() + name.text.dropFirst()
    }

    fileprivate func storedName(of line: PrismaSyntax.Field) -> String {
        keyword.text == "model" ? line.attributes["map"]?.text ?? line.name.text : line.name.text
    }
}

extension PrismaSyntax.Attribute {
    fileprivate var text: String? { if case .string(let text)? = arguments.first?.value.value { text } else { nil } }

    fileprivate var word: String? { if case .word(let word)? = arguments.first?.value.value { word } else { nil } }
}
