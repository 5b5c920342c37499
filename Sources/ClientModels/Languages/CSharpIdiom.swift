/// Writes classes for the Realm .NET SDK.
struct CSharpIdiom: LanguageIdiom {
    let template = #"""
        // {{origin}}.
        #nullable enable
        using System;
        using System.Collections.Generic;
        using MongoDB.Bson;
        using Realms;

        {{#isClassRenamed}}
        [MapTo({{classStored}})]
        {{/isClassRenamed}}
        public partial class {{className}} : {{base}}
        {
        {{#fields}}
        {{#isRenamed}}
            [MapTo({{stored}})]
        {{/isRenamed}}
        {{#isPrimaryKey}}
            [PrimaryKey]
        {{/isPrimaryKey}}
            public {{type}} {{name}} { get;{{^isCollection}} set;{{/isCollection}} }{{initial}}
        {{/fields}}
        {{#gaps}}
            // Left out: {{.}}.
        {{/gaps}}
        }

        """#

    /// The words that must not be names: the keywords of C#, the types that the file of a class uses, and the members
    /// that every object of the SDK has.
    let reserved = Set(
        """
        DateTimeOffset Decimal128 DynamicApi Equals GetHashCode GetType Guid IAsymmetricObject IDictionary \
        IEmbeddedObject
        IList IRealmObject ISet IsFrozen IsManaged IsValid MapTo Object ObjectId String ObjectSchema PrimaryKey \
        PropertyChanged Realm
        RealmValue ToString abstract as base bool break byte case catch char checked class const continue decimal \
        default
        delegate do double else enum event explicit extern false finally fixed float for foreach goto if implicit in int
        interface internal is lock long namespace new null object operator out override params private protected public
        readonly ref return sbyte sealed short sizeof stackalloc static string struct switch this throw true try \
        typeof uint
        ulong unchecked unsafe ushort using virtual void volatile while
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    let escape = (begin: "\\u", end: "")

    func fileName(of className: String) -> String { "\(className).cs" }

    func propertyName(of field: String) -> String { field.words.map(\.capitalizedFirst).joined() }

    func base(of kind: ObjectClass.Kind) -> String {
        switch kind {
        case .object: "IRealmObject"
        case .embedded: "IEmbeddedObject"
        case .asymmetric: "IAsymmetricObject"
        }
    }

    func typeName(of type: FieldType, _ names: ClassNames) -> String {
        let element = Self.element(type.element, names) + (type.isOptional ? "?" : "")
        return switch type.container {
        case .list: "IList<\(element)>"
        case .set: "ISet<\(element)>"
        case .dictionary: "IDictionary<string, \(element)>"
        case nil: element
        }
    }

    func initial(of type: FieldType) -> String {
        let isReference =
            type.container != nil || !type.isOptional && [.scalar(.string), .scalar(.binary)].contains(type.element)
        return isReference ? " = null!;" : ""
    }

    private static func element(_ element: FieldType.Element, _ names: ClassNames) -> String {
        switch element {
        case .mixed: "RealmValue"
        case .object(let title): names[title]
        case .scalar(let scalar):
            switch scalar {
            case .bool: "bool"
            case .int: "long"
            case .double: "double"
            case .decimal: "Decimal128"
            case .string: "string"
            case .date: "DateTimeOffset"
            case .objectID: "ObjectId"
            case .uuid: "Guid"
            case .binary: "byte[]"
            }
        }
    }

    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String] { [] }
}

extension String {
    /// The parts of the text that consist of ASCII letters and digits.
    var words: [Substring] { split { !($0.isASCII && ($0.isLetter || $0.isNumber)) } }
}

extension StringProtocol {
    /// The text with its first letter capitalized.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
