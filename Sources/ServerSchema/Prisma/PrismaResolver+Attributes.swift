internal import BSON

/// Reads the attributes of fields, and reports arguments that do not fit.
extension PrismaResolver {
    private static let fieldAttributes = ["id", "unique", "default", "map", "relation", "updatedAt", "ignore", "db."]

    mutating func apply(_ attribute: PrismaSyntax.Attribute, to field: inout PrismaSchema.Field) {
        switch attribute.name.text {
        case "id":
            field.isID = true
            if case .scalar = field.type { return }
            if case .enumeration = field.type { return }
            fail(.wrongValue, at: attribute.name.location, "only a field of a scalar type can be the @id")
        case "map":
            guard let name = text(of: attribute) else { return }
            (field.storedName, field.isMapped) = (name, true)
            if name.hasPrefix("$") || name.contains(".") {
                fail(
                    .wrongValue, at: attribute.name.location,
                    "@map: the name of a stored field cannot begin with $ or have a dot in it")
            }
        case "default": field.defaultValue = defaultValue(attribute, of: field)
        case "relation": field.relation = relation(attribute, of: field)
        case "ignore": field.isIgnored = true
        case "unique": field.isUnique = true
        case "updatedAt": break
        case let name where name.hasPrefix("db."): readNativeType(attribute, into: &field)
        case let name where name.contains("."):
            // The prefix of a native type is the name of the datasource, which need not be `db`.
            readNativeType(attribute, into: &field)
        default: unknown(attribute, among: Self.fieldAttributes, of: "a field")
        }
    }

    mutating func unknown(
        _ attribute: PrismaSyntax.Attribute, among known: [String], of what: String, mark: String = "@"
    ) {
        fail(
            .unknownKeyword, at: attribute.name.location,
            "\(what) has no attribute \(mark)\(attribute.name.text)",
            remedy: Spelling.nearest(to: attribute.name.text, among: known).map { "did you mean \(mark)\($0)?" })
    }

    /// Returns the value of an attribute whose only argument is a string, such as `@map("_id")`; otherwise adds an
    /// error and returns `nil`.
    mutating func text(of attribute: PrismaSyntax.Attribute) -> String? {
        let arguments = attribute.arguments.filter { $0.name == nil || $0.name?.text == "name" }
        if arguments.count == 1, attribute.arguments.count == 1, case .string(let text) = arguments[0].value.value,
            !text.isEmpty, !text.utf8.contains(0)
        {
            return text
        }
        fail(
            .wrongValue, at: attribute.arguments.first?.value.location ?? attribute.name.location,
            "@\(attribute.name.text) needs one argument, a name in quotation marks",
            remedy: "write @\(attribute.name.text)(\"name\")")
        return nil
    }

    private mutating func relation(
        _ attribute: PrismaSyntax.Attribute, of field: PrismaSchema.Field
    ) -> PrismaSchema.Relation? {
        guard case .relation = field.type else {
            fail(
                .wrongValue, at: attribute.name.location, "@relation belongs to a field whose type is a model",
                remedy: "remove it, or change the type of \"\(field.name)\"")
            return nil
        }
        var relation = PrismaSchema.Relation()
        for argument in attribute.arguments {
            switch argument.name?.text {
            case "fields": relation.fields = names(argument.value)
            case "references": relation.references = names(argument.value)
            case nil, "name": if case .string(let name) = argument.value.value { relation.name = name }
            case "map", "onDelete", "onUpdate": break
            case let other?:
                fail(
                    .unknownKeyword, at: argument.name?.location ?? attribute.name.location,
                    "@relation has no argument \"\(other)\"",
                    remedy: Spelling.hint(
                        for: other, among: ["fields", "references", "name", "map", "onDelete", "onUpdate"]))
            }
        }
        return relation
    }

    private mutating func names(_ value: PrismaSyntax.Expression) -> [String] {
        if case .list(let elements) = value.value {
            let names = elements.compactMap { if case .word(let name) = $0.value { name } else { nil } }
            if names.count == elements.count { return names }
        }
        fail(.wrongValue, at: value.location, "expected a list of fields such as [authorId], not \(value.words)")
        return []
    }

    private mutating func readNativeType(
        _ attribute: PrismaSyntax.Attribute, into field: inout PrismaSchema.Field
    ) {
        var name = String(attribute.name.text.drop { $0 != "." }.dropFirst())
        var location = attribute.name.location
        if name == "Array", let element = attribute.arguments.first?.value, case .word(let inner) = element.value {
            (name, location) = (inner, element.location)
        }
        let known = PrismaSchema.NativeType.allCases
        guard let type = known.first(where: { $0.rawValue == name }) else {
            return fail(
                .unknownType, at: location, "MongoDB has no native type \"\(name)\"",
                remedy: Spelling.hint(for: name, among: known.map(\.rawValue))
                    ?? "it has \(known.map(\.rawValue).joined(separator: ", "))")
        }
        field.nativeType = (type, attribute.name.location)
    }
}

// MARK: @default

extension PrismaResolver {
    private static let functions = ["now", "auto", "uuid", "cuid", "nanoid", "ulid", "autoincrement", "dbgenerated"]

    private mutating func defaultValue(
        _ attribute: PrismaSyntax.Attribute, of field: PrismaSchema.Field
    ) -> PrismaSchema.Default? {
        let values = attribute.arguments.filter { $0.name == nil || $0.name?.text == "value" }
        guard values.count == 1, let value = values.first?.value else {
            fail(.wrongValue, at: attribute.name.location, "@default needs one value", remedy: "write @default(…)")
            return nil
        }
        if case .function(let name, _) = value.value { return function(name, at: value.location) }
        switch field.type {
        case .embedded, .relation, .unsupported:
            fail(
                .wrongValue, at: attribute.name.location, "a field of this type cannot have a @default",
                remedy: "remove it")
            return nil
        case .scalar, .enumeration: break
        }
        guard field.arity == .list else { return constant(value, of: field.type).map { .constant($0) } }
        guard case .list(let elements) = value.value else {
            fail(.wrongValue, at: value.location, "the default of a list must be a list", remedy: "write @default([…])")
            return nil
        }
        let constants = elements.compactMap { constant($0, of: field.type) }
        return constants.count == elements.count ? .list : nil
    }

    private mutating func function(_ name: String, at location: SourceLocation) -> PrismaSchema.Default? {
        guard Self.functions.contains(name) else {
            fail(
                .wrongValue, at: location, "@default: there is no function \(name)()",
                remedy: Spelling.hint(for: name, among: Self.functions))
            return nil
        }
        return .function(name)
    }

    private mutating func constant(
        _ value: PrismaSyntax.Expression, of type: PrismaSchema.FieldType
    ) -> BSONValue? {
        let (constant, expected): (BSONValue?, String) =
            switch (type, value.value) {
            case (.enumeration(let name), .word(let word)):
                (
                    enums[name]?[word].map { .string($0.storedName) },
                    "a value of the enum \(name)"
                )
            case (.enumeration(let name), _): (nil, "a value of the enum \(name)")
            case (.scalar(let scalar), let value): (Self.constant(value, of: scalar), Self.expectation(scalar))
            default: (nil, "no default")
            }
        if let constant { return constant }
        var remedy: String?
        if case .enumeration(let name) = type, case .word(let word) = value.value {
            remedy = Spelling.hint(for: word, among: enums[name]?.values.map(\.name) ?? [])
        }
        fail(.wrongValue, at: value.location, "@default needs \(expected), not \(value.words)", remedy: remedy)
        return nil
    }

    private static func constant(
        _ value: PrismaSyntax.Expression.Value, of scalar: PrismaScalar
    ) -> BSONValue? {
        switch (scalar, value) {
        case (.string, .string(let text)): return .string(text)
        case (.boolean, .word("true")): return true
        case (.boolean, .word("false")): return false
        case (.int, .number(let text)), (.bigInt, .number(let text)): return Int64(text).map { .long($0) }
        case (.float, .number(let text)): return Double(text).map { .double($0) }
        case (.dateTime, .string(let text)): return try? BSONValue(extendedJSON: "{\"$date\": \(text.quotedAsJSON)}")
        case (.bytes, .string(let text)):
            let binary = "{\"base64\": \(text.quotedAsJSON), \"subType\": \"00\"}"
            return try? BSONValue(extendedJSON: "{\"$binary\": \(binary)}")
        case (.json, .string(let text)):
            // A name such as "$oid" may also be an ordinary one, with a value that is not extended JSON.
            return (try? BSONValue(extendedJSON: text))
                ?? (try? JSONParser.parse(Array(text.utf8), file: ""))?.plainBSON
        default: return nil
        }
    }

    private static func expectation(_ scalar: PrismaScalar) -> String {
        switch scalar {
        case .string: "a string"
        case .boolean: "true or false"
        case .int, .bigInt: "a whole number"
        case .float: "a number"
        case .dateTime: "a string with a time such as \"2026-11-30T12:00:00Z\""
        case .bytes: "a string in Base64"
        case .json: "a string of JSON"
        }
    }
}

extension LocatedJSON {
    /// The value as BSON, in which names such as `$oid` have no special meaning; `nil` if BSON has no such name.
    fileprivate var plainBSON: BSONValue? {
        switch value {
        case .scalar(.null): return .null
        case .scalar(.bool(let flag)): return .bool(flag)
        case .scalar(.string(let text)): return .string(text)
        case .scalar(.number(let text)): return Int64(text).map { .long($0) } ?? .double(Double(text) ?? 0)
        case .array(let elements):
            let values = elements.compactMap(\.plainBSON)
            return values.count == elements.count ? .array(of: values) : nil
        case .object(let members):
            let pairs = members.compactMap { member in
                member.name.utf8.contains(0) ? nil : member.value.plainBSON.map { (member.name, $0) }
            }
            return pairs.count == members.count ? .object(BSONDocument(pairs)) : nil
        }
    }
}
