import BSON

/// A language in which the classes of clients can be written.
package enum ModelLanguage: String, Hashable, Sendable, CaseIterable {
    case swift, kotlin, typescript, csharp, dart

    /// Returns the files with the classes, one file for each class.
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
    /// The class in the file.
    package let model: ObjectClass
    /// The file's text, which ends with a line break.
    package let text: String

    init(_ model: ObjectClass, named names: ClassNames, in idiom: any LanguageIdiom) {
        name = idiom.fileName(of: names[model.name])
        self.model = model
        text = ModelPage(model, named: names, in: idiom).text
    }
}

/// The syntax and style in which a language and its SDK write a class.
protocol LanguageIdiom: Sendable {
    /// The template of a file, in Mustache's notation; a ``ModelPage`` has the values for it.
    var template: String { get }
    /// The words that must not be the name of a class or a property.
    var reserved: Set<String> { get }
    /// The texts before and after the digits of an escaped character in a string literal, such as `\u{` and `}`.
    var escape: (begin: String, end: String) { get }
    /// The characters that have a meaning in a string literal, in addition to quotation marks and backslashes.
    var escaped: Set<Unicode.Scalar> { get }

    /// Returns the name of the file for a class.
    func fileName(of className: String) -> String
    /// Returns the property name for a field, in the language's style.
    func propertyName(of field: String) -> String
    /// Returns the class or interface that a class of this kind inherits from.
    func base(of kind: ObjectClass.Kind) -> String
    /// Returns the type of a property in the language.
    func typeName(of type: FieldType, _ names: ClassNames) -> String
    /// Returns the code for the initial value of a property, with code before and after it that the template lacks;
    /// empty if no value is needed.
    func initial(of type: FieldType) -> String
    /// Returns the type of a property as the SDK's schemas write it; empty if the SDK has no schemas.
    func schemaType(of type: FieldType) -> String
    /// Returns the names that the file of a class has to import.
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
                // If an escape has four digits, a character beyond 16 bits is written as its two UTF-16 halves.
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

    /// Returns the text as a name that the language accepts: ASCII letters, digits and `_`, but no reserved word.
    func identifier(_ text: String) -> String {
        var name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        if name.allSatisfy({ $0 == "_" }) || name.first?.isNumber == true { name = "x" + name }
        return reserved.contains(name) ? name + "_" : name
    }
}

/// The names of all classes in one language.
///
/// They differ even if case is ignored, because the files are named after them.
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

    /// Returns the name of the class with a title, even if no file is written for the class.
    subscript(title: String) -> String { names[title] ?? idiom.identifier(title) }
}
