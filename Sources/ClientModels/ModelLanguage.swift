import BSON

/// A programming language in which the classes of clients can be written.
package enum ModelLanguage: String, Hashable, Sendable, CaseIterable {
    case swift, kotlin, typescript, csharp, dart

    package func files(of classes: ObjectClasses) -> [ModelFile] {
        let idiom = idiom
        let names = ClassNames(classes.classes, in: idiom)
        return classes.classes.map { ModelFile($0, named: names, in: idiom) }
    }

    private var idiom: any LanguageIdiom {
        switch self {
        case .swift: SwiftIdiom()
        case .kotlin: KotlinIdiom()
        case .typescript: TypeScriptIdiom()
        case .csharp: CSharpIdiom()
        case .dart: DartIdiom()
        }
    }
}

/// A file with the source code of one class.
package struct ModelFile: Sendable {
    /// The file's name, without a folder.
    package let name: String
    /// The class that the file declares.
    package let model: ObjectClass
    /// The file's text, which ends with a line break.
    package let text: String

    init(_ model: ObjectClass, named names: ClassNames, in idiom: any LanguageIdiom) {
        name = idiom.fileName(of: names[model.name])
        self.model = model
        text = ModelPage(model, named: names, in: idiom).text
    }
}

/// The syntax and style of the classes for one programming language and its Realm SDK.
protocol LanguageIdiom: Sendable {
    /// The template of a file, in Mustache's notation; a ``ModelPage`` has the values that fill it.
    var template: String { get }
    /// The words that must not be the name of a class or a property.
    var reserved: Set<String> { get }
    /// The texts before and after the digits of an escaped character in a string literal, for example `\u{` and `}`.
    var escape: (begin: String, end: String) { get }
    /// The characters that must be escaped in a string literal, in addition to quotation marks and backslashes.
    var escaped: Set<Unicode.Scalar> { get }

    func fileName(of className: String) -> String
    /// Returns the property name for a field, in the language's style.
    func propertyName(of field: String) -> String
    /// Returns the class or interface from which a class of this kind inherits.
    func base(of kind: ObjectClass.Kind) -> String
    func typeName(of type: FieldType, _ names: ClassNames) -> String
    /// Returns the code for the initial value of a property; empty if the property needs none.
    ///
    /// The code also has the characters around the value, such as ` = ` and `;` in C#, if the template does not have
    /// them.
    func initial(of type: FieldType) -> String
    /// Returns the type of a property in the notation of the SDK's schemas; empty if the SDK has no schemas.
    func schemaType(of type: FieldType) -> String
    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String]
}

extension LanguageIdiom {
    var escape: (begin: String, end: String) { ("\\u{", "}") }
    var escaped: Set<Unicode.Scalar> { [] }
    func propertyName(of field: String) -> String { field }
    func initial(of type: FieldType) -> String { "" }
    func schemaType(of type: FieldType) -> String { "" }

    /// Returns the text as a string literal on one line.
    func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" || escaped.contains(scalar) {
                result += "\\\(scalar)"
            } else if scalar.misleads {
                // In a language whose escapes have four digits, a character of more than 16 bits is written as two
                // UTF-16 units.
                let units = escape.end.isEmpty ? String(scalar).utf16.map(UInt32.init) : [scalar.value]
                for unit in units {
                    let digits = String(unit, radix: 16)
                    result +=
                        escape.begin + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + escape.end
                }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Returns the text as a valid name of the language, with ASCII letters, digits and `_`, but not a reserved word.
    func identifier(_ text: String) -> String {
        var name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        if name.allSatisfy({ $0 == "_" }) || name.first?.isNumber == true { name = "x" + name }
        return reserved.contains(name) ? name + "_" : name
    }
}

/// The names of all classes in one language.
///
/// The names differ even if case is ignored, because they are also the names of files.
struct ClassNames {
    private let names: [String: String]
    private let idiom: any LanguageIdiom

    init(_ classes: [ObjectClass], in idiom: any LanguageIdiom) {
        var (names, taken): ([String: String], Set<String>) = ([:], [])
        for model in classes {
            var name = idiom.identifier(model.name)
            while !taken.insert(name.lowercased()).inserted { name += "_" }
            names[model.name] = name
        }
        (self.names, self.idiom) = (names, idiom)
    }

    /// Returns the name of the class with this title, even if the class has no file.
    subscript(title: String) -> String { names[title] ?? idiom.identifier(title) }
}
