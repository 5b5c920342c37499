/// Writes classes for the Realm Swift SDK.
struct SwiftIdiom: LanguageIdiom {
    let template = #"""
        // {{origin}}.
        import Foundation
        import RealmSwift

        class {{className}}: {{base}} {
        {{#fields}}
            @Persisted{{#isPrimaryKey}}(primaryKey: true){{/isPrimaryKey}} var {{name}}: {{type}}
        {{/fields}}
        {{#gaps}}
            // Left out: {{.}}.
        {{/gaps}}
        {{#isClassRenamed}}

            override class func _realmObjectName() -> String? { {{classStored}} }
        {{/isClassRenamed}}
        {{^empty(mappings)}}

            override class func propertiesMapping() -> [String: String] {
                [
        {{#mappings}}
                    "{{name}}": {{stored}},
        {{/mappings}}
                ]
            }
        {{/empty(mappings)}}
        }

        """#

    /// The words that must not be names: the keywords of Swift, the members of the classes of the SDK and of
    /// Foundation, and the types that the file of a class uses.
    let reserved = Set(
        """
        Any AnyRealmValue AsymmetricObject Bool Data Date Decimal128 Double EmbeddedObject Int List Map MutableSet \
        Object
        ObjectId Persisted Protocol Realm Self String Type UUID actor as associatedtype async await break case catch \
        class
        className continue copy debugDescription default defer deinit description didChangeValue do else enum extension
        fallthrough false fileprivate for func guard hash if import in init inout internal is isEqual isFrozen \
        isInvalidated
        isProxy let mutableCopy nil objectSchema observationInfo observe open operator precedencegroup private \
        protocol public
        realm repeat rethrows return self static struct subscript super superclass switch thaw throw throws true try
        typealias var where while
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    func fileName(of className: String) -> String { "\(className).swift" }

    func base(of kind: ObjectClass.Kind) -> String {
        switch kind {
        case .object: "Object"
        case .embedded: "EmbeddedObject"
        case .asymmetric: "AsymmetricObject"
        }
    }

    func typeName(of type: FieldType, _ names: ClassNames) -> String {
        let element = Self.element(type.element, names) + (type.isOptional ? "?" : "")
        return switch type.container {
        case .list: "List<\(element)>"
        case .set: "MutableSet<\(element)>"
        case .dictionary: "Map<String, \(element)>"
        case nil: element
        }
    }

    private static func element(_ element: FieldType.Element, _ names: ClassNames) -> String {
        switch element {
        case .mixed: "AnyRealmValue"
        case .object(let title): names[title]
        case .scalar(let scalar):
            switch scalar {
            case .bool: "Bool"
            case .int: "Int"
            case .double: "Double"
            case .decimal: "Decimal128"
            case .string: "String"
            case .date: "Date"
            case .objectID: "ObjectId"
            case .uuid: "UUID"
            case .binary: "Data"
            }
        }
    }

    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String] { [] }
}
