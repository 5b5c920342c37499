import BSON

/// A language that classes can be written in.
package enum ModelLanguage: String, Hashable, Sendable, CaseIterable {
    case swift, kotlin, typescript, csharp, dart

    /// Returns the files of the classes, one for each class.
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

/// A file with one class.
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

/// The style in which a language and its SDK write a class.
protocol LanguageIdiom: Sendable {
    /// The template of a file, in Mustache's notation, filled from a ``ModelPage``.
    var template: String { get }
    /// The words that must not name a class or a property.
    var reserved: Set<String> { get }
    /// The beginning and the end of an escaped scalar in a text, such as `\u{` and `}`.
    var escape: (begin: String, end: String) { get }
    /// The scalars that have a meaning in a text, besides quotation marks and backslashes.
    var escaped: Set<Unicode.Scalar> { get }

    /// Returns the name of the file of a class.
    func fileName(of className: String) -> String
    /// Returns the name of a property in the language's style.
    func propertyName(of field: String) -> String
    /// Returns the interface or class that a class inherits from.
    func base(of kind: ObjectClass.Kind) -> String
    /// Returns the type of a property.
    func typeName(of type: FieldType, _ names: ClassNames) -> String
    /// Returns the initial value of a property, with any text that must be before it; empty if none is needed.
    func initial(of type: FieldType) -> String
    /// Returns the type as the SDK's schemas spell it; empty if the SDK has no schemas.
    func schemaType(of type: FieldType) -> String
    /// Returns the names that a file imports.
    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String]
}

extension LanguageIdiom {
    var escape: (begin: String, end: String) { ("\\u{", "}") }
    var escaped: Set<Unicode.Scalar> { [] }
    func propertyName(of field: String) -> String { field }
    func initial(of type: FieldType) -> String { "" }
    func schemaType(of type: FieldType) -> String { "" }

    /// Returns a text in quotation marks, on one line.
    func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" || escaped.contains(scalar) {
                result += "\\\(scalar)"
            } else if scalar.misleads {
                // Where an escape has four digits, a scalar beyond 16 bits is written as its two halves.
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

    /// Returns a name that the language accepts: ASCII letters, digits and `_`, and no reserved word.
    func identifier(_ text: String) -> String {
        var name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        if name.allSatisfy({ $0 == "_" }) || name.first?.isNumber == true { name = "x" + name }
        return reserved.contains(name) ? name + "_" : name
    }
}

/// The names of all classes in one language, different even if case is ignored, because files are named after them.
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

    /// Returns the name of a class, even if no file is written for it.
    subscript(title: String) -> String { names[title] ?? idiom.identifier(title) }
}
