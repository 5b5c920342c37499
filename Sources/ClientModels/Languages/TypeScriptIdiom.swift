/// Writes TypeScript classes for the Realm SDK for JavaScript.
struct TypeScriptIdiom: LanguageIdiom {
    let template = #"""
        // {{origin}}.
        import Realm from "realm";
        {{#imports}}
        import type { {{.}} } from "./{{.}}";
        {{/imports}}

        export class {{className}} extends {{base}}<{{className}}> {
        {{#fields}}
          {{name}}{{#isOptional}}?{{/isOptional}}{{^isOptional}}!{{/isOptional}}: {{type}};
        {{/fields}}

          static schema: Realm.ObjectSchema = {
            name: {{classStored}},
        {{#isEmbedded}}
            embedded: true,
        {{/isEmbedded}}
        {{#isAsymmetric}}
            asymmetric: true,
        {{/isAsymmetric}}
            properties: {
        {{#fields}}
              {{name}}: {{#isRenamed}}{ type: {{schemaType}}, mapTo: {{stored}} }{{/isRenamed}}{{^isRenamed}}{{schemaType}}{{/isRenamed}},
        {{/fields}}
        {{#gaps}}
              // Left out: {{.}}.
        {{/gaps}}
            },
        {{^empty(primaryKey)}}
            primaryKey: "{{primaryKey}}",
        {{/empty(primaryKey)}}
          };
        }

        """#

    /// The words that must not be the name of a class or a property.
    ///
    /// These are the keywords of TypeScript, the types that the file of a class uses, and the members that every object
    /// of the SDK or of JavaScript has. One such member is `__proto__`: in the class's schema, which is an object
    /// literal, a property with this name would set the literal's prototype.
    let reserved = Set(
        """
        __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ hasOwnProperty isPrototypeOf
        propertyIsEnumerable toLocaleString toString valueOf
        Array ArrayBuffer Date Map Object Realm Set String addListener any await boolean break case catch class const \
        constructor continue debugger
        default delete do else entries enum export extends false finally for function getPropertyType if implements \
        import in
        instanceof interface isValid keys let linkingObjects linkingObjectsCount never new null number object \
        objectSchema
        package private protected public removeAllListeners removeListener return schema static string super switch \
        symbol
        this throw toJSON true try typeof undefined unknown var void while with yield
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    let escape = (begin: "\\u", end: "")

    func fileName(of className: String) -> String { "\(className).ts" }

    func base(of kind: ObjectClass.Kind) -> String { "Realm.Object" }

    func typeName(of type: FieldType, _ names: ClassNames) -> String {
        let name: String =
            switch type.element {
            case .mixed: "Realm.Mixed"
            case .object(let title): names[title]
            case .scalar(let scalar): Self.words(for: scalar).type
            }
        let element = type.isOptional && type.container != nil ? "\(name) | null" : name
        return switch type.container {
        case .list: "Realm.List<\(element)>"
        case .set: "Realm.Set<\(element)>"
        case .dictionary: "Realm.Dictionary<\(element)>"
        case nil: element
        }
    }

    func schemaType(of type: FieldType) -> String {
        let name: String =
            switch type.element {
            case .mixed: "mixed"
            case .object(let title): title
            case .scalar(let scalar): Self.words(for: scalar).schema
            }
        // In the schema, `?` marks a value that may be null. Objects in a list, set or dictionary have no mark, because
        // the kind of the container decides whether they may be null.
        let isSaid: Bool = if case .object = type.element, type.container != nil { false } else { type.isOptional }
        let element = name + (isSaid ? "?" : "")
        return switch type.container {
        case .list: element + "[]"
        case .set: element + "<>"
        case .dictionary: element + "{}"
        case nil: element
        }
    }

    private static func words(for scalar: FieldType.Scalar) -> (type: String, schema: String) {
        switch scalar {
        case .bool: ("boolean", "bool")
        case .int: ("number", "int")
        case .double: ("number", "double")
        case .decimal: ("Realm.BSON.Decimal128", "decimal128")
        case .string: ("string", "string")
        case .date: ("Date", "date")
        case .objectID: ("Realm.BSON.ObjectId", "objectId")
        case .uuid: ("Realm.BSON.UUID", "uuid")
        case .binary: ("ArrayBuffer", "data")
        }
    }

    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String] {
        model.linkedClasses(names)
    }
}

extension ObjectClass {
    /// Returns the names of the other classes to which the properties of this class refer, sorted.
    func linkedClasses(_ names: ClassNames) -> [String] {
        let classes = fields.compactMap { field -> String? in
            guard case .object(let title) = field.type.element, title != name else { return nil }
            return names[title]
        }
        return Set(classes).sorted()
    }
}
