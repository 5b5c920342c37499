import BSON

/// A language that classes are written in.
package enum ModelLanguage: String, Hashable, Sendable, CaseIterable {
    case swift, kotlin, typescript, csharp, dart

    /// The files of the classes, one for each.
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

/// A file with a class.
package struct ModelFile: Sendable {
    /// Its name, without a folder.
    package let name: String
    /// The class in it.
    package let model: ObjectClass
    /// Its text, which ends with a line break.
    package let text: String

    init(_ model: ObjectClass, named names: ClassNames, in idiom: any LanguageIdiom) {
        name = idiom.fileName(of: names[model.name])
        self.model = model
        text = ModelPage(model, named: names, in: idiom).text
    }
}

/// How a language, and its SDK, writes a class.
protocol LanguageIdiom: Sendable {
    /// The text of a file, in Mustache's notation, filled from a ``ModelPage``.
    var template: String { get }
    /// The words that name neither a class nor a property.
    var reserved: Set<String> { get }
    /// What begins an escape of a scalar in a text, and what ends it: `\u{`, `}`.
    var escape: (begin: String, end: String) { get }
    /// What has a meaning in a text beside quotation marks and backslashes.
    var escaped: Set<Unicode.Scalar> { get }

    /// The name of the file of a class.
    func fileName(of className: String) -> String
    /// The name that the language's style gives a property.
    func propertyName(of field: String) -> String
    /// The interface or class that a class comes from.
    func base(of kind: ObjectClass.Kind) -> String
    /// The type of a property.
    func typeName(of type: FieldType, _ names: ClassNames) -> String
    /// What a property begins with, with all that stands before it; empty where that need not be said.
    func initial(of type: FieldType) -> String
    /// The same type as the SDK's schemas spell it; empty where there are none.
    func schemaType(of type: FieldType) -> String
    /// What a file names of elsewhere.
    func imports(of model: ObjectClass, isRenamed: Bool, _ names: ClassNames) -> [String]
}

extension LanguageIdiom {
    var escape: (begin: String, end: String) { ("\\u{", "}") }
    var escaped: Set<Unicode.Scalar> { [] }
    func propertyName(of field: String) -> String { field }
    func initial(of type: FieldType) -> String { "" }
    func schemaType(of type: FieldType) -> String { "" }

    /// A text in quotation marks, on one line.
    func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" || escaped.contains(scalar) {
                result += "\\\(scalar)"
            } else if scalar.misleads {
                // Scalars beyond 16 bits are told by their halves where an escape has four digits.
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

    /// A name that the language takes: ASCII letters, digits and `_`, and no reserved word.
    func identifier(_ text: String) -> String {
        var name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        if name.allSatisfy({ $0 == "_" }) || name.first?.isNumber == true { name = "x" + name }
        return reserved.contains(name) ? name + "_" : name
    }
}

/// The names of all classes in one language: files of two differ also where case does not count.
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

    /// The name of a class; also of one whose file is not written.
    subscript(title: String) -> String { names[title] ?? idiom.identifier(title) }
}
