/// An index that a Prisma schema declares: `@unique` on a field, or `@@unique`, `@@index` or `@@fulltext` on a model.
package struct PrismaIndex {
    let attribute: PrismaSyntax.Attribute
    /// The indexed fields: the names of the schema, with dots into embedded types.
    var fields: [Field] = []
    let isOnField: Bool

    struct Field: Hashable {
        var path: String
        /// The arguments in parentheses, such as `sort: Desc`, each in the words of the file.
        var arguments: [String: String] = [:]
    }

    /// Whether the index allows each value only once.
    var isUnique: Bool { attribute.name.text == "unique" }

    /// The attribute's name, such as `@@unique`.
    var mark: String { (isOnField ? "@" : "@@") + attribute.name.text }

    /// Returns the string that an argument has; `nil` if it has none.
    func text(_ name: String) -> String? {
        if case .string(let text)? = attribute.argument(name) { text } else { nil }
    }

    /// The indexes that a model declares, those on fields first.
    static func all(of model: PrismaSchema.Model) -> [PrismaIndex] {
        let onFields = model.fields.flatMap { field in
            field.attributes.filter { $0.name.text == "unique" }.map { attribute in
                let arguments = attribute.arguments.compactMap { argument in argument.name.map { ($0.text, argument) } }
                let sort = arguments.filter { $0.0 == "sort" }.map { ($0.0, $0.1.value.words) }
                let own = Field(path: field.name, arguments: Dictionary(sort) { first, _ in first })
                return PrismaIndex(attribute: attribute, fields: [own], isOnField: true)
            }
        }
        let kinds = ["unique", "index", "fulltext"]
        return onFields + model.attributes.filter { kinds.contains($0.name.text) }.map(PrismaIndex.init)
    }

    private init(attribute: PrismaSyntax.Attribute, fields: [Field], isOnField: Bool) {
        (self.attribute, self.fields, self.isOnField) = (attribute, fields, isOnField)
    }

    private init(_ attribute: PrismaSyntax.Attribute) {
        self.init(attribute: attribute, fields: [], isOnField: false)
        let list = attribute.arguments.first { $0.name == nil || $0.name?.text == "fields" }?.value.value
        guard case .list(let elements)? = list else { return }
        fields = elements.compactMap { element in
            switch element.value {
            case .word(let path): Field(path: path)
            case .function(let path, let arguments):
                Field(
                    path: path,
                    arguments: Dictionary(arguments.map { ($0.name?.text ?? "", $0.value.words) }) { first, _ in first }
                )
            case .string, .number, .list: nil
            }
        }
    }

    /// Returns the name that Prisma gives to an index in the database, such as `User_email_key`.
    ///
    /// Source: `constraint_names.rs` in prisma/prisma-engines at 17f841c3.
    package static func name(_ paths: [String], isUnique: Bool, of collection: String) -> String {
        let suffix = isUnique ? "_key" : "_idx"
        var name = "\(collection)_" + paths.joined(separator: "_").replacing(".", with: "_")
        while name.utf8.count > longest - suffix.utf8.count { name.removeLast() }
        return name + suffix
    }

    /// The most bytes of the name of an index that Prisma makes for MongoDB.
    private static let longest = 127
}
