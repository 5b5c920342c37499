/// Writes classes for the Realm Kotlin SDK.
struct KotlinIdiom: LanguageIdiom {
    let template = #"""
        // {{origin}}.
        {{#imports}}
        import {{.}}
        {{/imports}}

        {{#isClassRenamed}}
        @PersistedName({{classStored}})
        {{/isClassRenamed}}
        class {{className}} : {{base}} {
        {{#fields}}
        {{#isPrimaryKey}}
            @PrimaryKey
        {{/isPrimaryKey}}
        {{#isRenamed}}
            @PersistedName({{stored}})
        {{/isRenamed}}
            var {{name}}: {{type}} = {{initial}}
        {{/fields}}
        {{#gaps}}
            // Left out: {{.}}.
        {{/gaps}}
        }

        """#

    /// The words that must not be names: the keywords of Kotlin, and the types that the file of a class uses.
    let reserved = Set(
        """
        Any AsymmetricRealmObject Boolean ByteArray Decimal128 Double EmbeddedRealmObject Long Nothing ObjectId \
        PersistedName
        PrimaryKey RealmAny RealmDictionary RealmInstant RealmList RealmObject RealmSet RealmUUID String Unit as break \
        class
        continue do else false for fun if in interface is null object package return super this throw true try typealias
        typeof val var when while
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    let escape = (begin: "\\u", end: "")
    let escaped: Set<Unicode.Scalar> = ["$"]

    func fileName(of className: String) -> String { "\(className).kt" }

    func base(of kind: ObjectClass.Kind) -> String {
        switch kind {
        case .object: "RealmObject"
        case .embedded: "EmbeddedRealmObject"
        case .asymmetric: "AsymmetricRealmObject"
        }
    }

    func typeName(of type: FieldType, _ names: ClassNames) -> String {
        let isOptional = type.isOptional || type.element == .mixed
        let name: String =
            switch type.element {
            case .mixed: "RealmAny"
            case .object(let title): names[title]
            case .scalar(let scalar): Self.words(for: scalar).type
            }
        let element = name + (isOptional ? "?" : "")
        return switch type.container {
        case .list: "RealmList<\(element)>"
        case .set: "RealmSet<\(element)>"
        case .dictionary: "RealmDictionary<\(element)>"
        case nil: element
        }
    }

    func initial(of type: FieldType) -> String {
        switch type.container {
        case .list: return "realmListOf()"
        case .set: return "realmSetOf()"
        case .dictionary: return "realmDictionaryOf()"
        case nil:
            guard case .scalar(let scalar) = type.element, !type.isOptional else { return "null" }
            return Self.words(for: scalar).initial
        }
    }

    private static func words(for scalar: FieldType.Scalar) -> (type: String, initial: String, import: String?) {
        switch scalar {
        case .bool: ("Boolean", "false", nil)
        case .int: ("Long", "0", nil)
        case .double: ("Double", "0.0", nil)
        case .decimal: ("Decimal128", "Decimal128(\"0\")", "org.mongodb.kbson.Decimal128")
        case .string: ("String", "\"\"", nil)
        case .date: ("RealmInstant", "RealmInstant.now()", "io.realm.kotlin.types.RealmInstant")
        case .objectID: ("ObjectId", "ObjectId()", "org.mongodb.kbson.ObjectId")
        case .uuid: ("RealmUUID", "RealmUUID.random()", "io.realm.kotlin.types.RealmUUID")
        case .binary: ("ByteArray", "byteArrayOf()", nil)
        }
    }

    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String] {
        let types = "io.realm.kotlin.types"
        var imports: Set<String> = [
            model.kind == .asymmetric
                ? "io.realm.kotlin.mongodb.types.AsymmetricRealmObject" : "\(types).\(base(of: model.kind))"
        ]
        if isRenamed { imports.insert("\(types).annotations.PersistedName") }
        for field in model.fields {
            if field.isPrimaryKey { imports.insert("\(types).annotations.PrimaryKey") }
            switch field.type.element {
            case .mixed: imports.insert("\(types).RealmAny")
            case .scalar(let scalar): imports.formUnion([Self.words(for: scalar).import].compactMap(\.self))
            case .object: break
            }
            switch field.type.container {
            case .list: imports.formUnion(["io.realm.kotlin.ext.realmListOf", "\(types).RealmList"])
            case .set: imports.formUnion(["io.realm.kotlin.ext.realmSetOf", "\(types).RealmSet"])
            case .dictionary: imports.formUnion(["io.realm.kotlin.ext.realmDictionaryOf", "\(types).RealmDictionary"])
            case nil: break
            }
        }
        return imports.sorted()
    }
}
