/// The syntax of Prisma files, as the parser reads it; the names are not looked up yet.
enum PrismaSyntax {
    /// A name, possibly with dots, such as `User` or `db.ObjectId`.
    struct Name: Hashable, Sendable {
        var text: String
        var location: SourceLocation
    }

    /// A block such as `model User { … }`.
    struct Block: Sendable {
        /// The word with which the block begins, such as `model`.
        var keyword: Name
        var name: Name
        var fields: [Field] = []
        var properties: [Property] = []
        /// The attributes of the block as a whole, which begin with `@@`.
        var attributes: [Attribute] = []
    }

    /// A line of a model, a type or an enum.
    struct Field: Sendable {
        var name: Name
        /// The type of the field; `nil` for a value of an enum.
        var type: TypeName?
        /// The stored value of an enum's value, after `=`; only in a contract of Prisma 8.
        var value: Expression?
        /// The text of the comments that document the field.
        var documentation = ""
        var attributes: [Attribute] = []
    }

    /// The type of a field as the file writes it, such as `String[]`.
    struct TypeName: Sendable {
        var name: Name
        var isUnsupported = false
        var arity = PrismaSchema.Arity.required
        /// Whether the type is a list that may be missing, as `String[]?`; only in a contract of Prisma 8.
        var isOptionalList = false
    }

    /// A line `name = value` of a `datasource` or a `generator`.
    struct Property: Sendable {
        var name: Name
        var value: Expression
    }

    struct Attribute: Sendable {
        /// The name without `@`, such as `map` or `db.ObjectId`.
        var name: Name
        var arguments: [Argument] = []

        /// Returns the value of an argument, such as `map`; `nil` if the attribute does not have it.
        func argument(_ name: String) -> Expression.Value? {
            arguments.first { $0.name?.text == name }?.value.value
        }
    }

    struct Argument: Sendable {
        /// The argument's name, which is before the colon; `nil` if the argument has no name.
        var name: Name?
        var value: Expression
    }

    struct Expression: Sendable {
        var value: Value
        var location: SourceLocation

        indirect enum Value: Sendable {
            case string(String)
            case number(String)
            /// A word such as `true`, a value of an enum, or the name of a field.
            case word(String)
            case function(String, [Argument])
            case list([Expression])
        }

        /// The value as an error message shows it.
        var words: String {
            switch value {
            case .string: "a string"
            case .number(let text): text
            case .word(let text): "\"\(text)\""
            case .function(let name, _): "\(name)()"
            case .list: "a list"
            }
        }
    }
}
