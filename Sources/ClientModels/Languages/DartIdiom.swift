/// Writes classes for the Realm SDK for Flutter and Dart.
struct DartIdiom: LanguageIdiom {
    // Class names begin with $ and not with _, because Dart hides a name that begins with _ from other files.
    let template = #"""
        // {{origin}}.
        {{#imports}}
        import '{{.}}';
        {{/imports}}

        part '{{fileStem}}.realm.dart';

        @RealmModel({{base}})
        {{#isClassRenamed}}
        @MapTo({{classStored}})
        {{/isClassRenamed}}
        class ${{className}} {
        {{#fields}}
        {{#isPrimaryKey}}
          @PrimaryKey()
        {{/isPrimaryKey}}
        {{#isRenamed}}
          @MapTo({{stored}})
        {{/isRenamed}}
          {{^isOptional}}late {{/isOptional}}{{type}} {{name}};
        {{/fields}}
        {{#gaps}}
          // Left out: {{.}}.
        {{/gaps}}
        }

        """#

    /// The words that must not be names: the keywords of Dart, the types that the file of a class uses, and the members
    /// that every object of the SDK has.
    let reserved = Set(
        """
        DateTime Decimal128 Function List Map MapTo Object ObjectId PrimaryKey Realm RealmModel RealmObject RealmValue \
        Set
        String Uint8List Uuid abstract as assert async await base bool break case catch changes class const continue
        covariant default deferred do double dynamic else enum export extends extension external factory false final
        finally for freeze get getBacklinks hashCode hide if implements import in int instanceSchema interface is \
        isFrozen
        isManaged isValid late library mixin new noSuchMethod null num objectSchema of on operator part realm required
        rethrow return runtimeType sealed set show static super switch sync this throw toString true try typedef var \
        void
        when while with yield
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    let escaped: Set<Unicode.Scalar> = ["$"]

    func fileName(of className: String) -> String {
        var name = ""
        for character in className {
            if character.isUppercase, let last = name.last, last != "_", !last.isUppercase { name += "_" }
            name += character.lowercased()
        }
        return name + ".dart"
    }

    func propertyName(of field: String) -> String {
        let words = field.words
        guard let first = words.first else { return field }
        return first.prefix(1).lowercased() + first.dropFirst() + words.dropFirst().map(\.capitalizedFirst).joined()
    }

    /// Returns the argument of the annotation `@RealmModel`; empty if the annotation has none.
    func base(of kind: ObjectClass.Kind) -> String {
        switch kind {
        case .object: ""
        case .embedded: "ObjectType.embeddedObject"
        case .asymmetric: "ObjectType.asymmetricObject"
        }
    }

    func typeName(of type: FieldType, _ names: ClassNames) -> String {
        let element = Self.element(type.element, names) + (type.isOptional ? "?" : "")
        return switch type.container {
        case .list: "List<\(element)>"
        case .set: "Set<\(element)>"
        case .dictionary: "Map<String, \(element)>"
        case nil: element
        }
    }

    private static func element(_ element: FieldType.Element, _ names: ClassNames) -> String {
        switch element {
        case .mixed: "RealmValue"
        case .object(let title): "$" + names[title]
        case .scalar(let scalar):
            switch scalar {
            case .bool: "bool"
            case .int: "int"
            case .double: "double"
            case .decimal: "Decimal128"
            case .string: "String"
            case .date: "DateTime"
            case .objectID: "ObjectId"
            case .uuid: "Uuid"
            case .binary: "Uint8List"
            }
        }
    }

    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String] {
        let hasBytes = model.fields.contains { $0.type.element == .scalar(.binary) }
        return (hasBytes ? ["dart:typed_data"] : []) + ["package:realm/realm.dart"]
            + model.linkedClasses(names).map { fileName(of: $0) }
    }
}
