/// Reads the blocks of one Prisma file, and continues after an error, to collect all errors.
///
/// Source: the grammar of Prisma's own parser, `psl/schema-ast/src/parser/datamodel.pest` in prisma/prisma-engines.
struct PrismaParser {
    private var lexer: PrismaLexer
    /// The tokens that were read and not taken yet; at least one.
    private var ahead: [PrismaToken]
    private var own: [SchemaError] = []
    /// The number of lines in blocks, of arguments and elements of lists, and of dots in names.
    private var partCount = 0
    private var depth = 0
    /// Whether the file is a contract of Prisma 8: its enums have stored values after `=`, and `_id` is a name.
    private let isContract: Bool

    private static let maximumDepth = 100
    private static let keywords = ["model", "type", "enum", "view", "datasource", "generator"]

    init(_ text: String, file: String, isContract: Bool = false) {
        self.isContract = isContract
        lexer = PrismaLexer(text, file: file)
        ahead = [lexer.next()]
    }

    /// The errors so far; after ``PrismaLexer/mostErrors`` of them, the rest of the file is not read.
    var errors: [SchemaError] { own + lexer.errors }

    /// Returns the blocks of the file.
    ///
    /// Lines with an error are left out, and so are blocks whose first line has an error.
    mutating func blocks() -> [PrismaSyntax.Block] {
        var blocks: [PrismaSyntax.Block] = []
        while true {
            skipLineEnds()
            if isAtEnd { return blocks }
            do throws(SchemaError) { blocks.append(try block()) } catch {
                fail(error)
                skipToBlock()
            }
        }
    }

    /// Adds an error, except one that follows from the end of a file that is not read any further.
    private mutating func fail(_ error: SchemaError) { if !lexer.isFull { own.append(error) } }

    private var next: PrismaToken { ahead[0] }

    /// Whether the rest of the file is not read, because it has too many errors or fields.
    var isFull: Bool {
        lexer.isFull || own.count + lexer.errors.count >= PrismaLexer.mostErrors || partCount > SchemaNode.mostFields
    }

    private var isAtEnd: Bool { isFull || next.kind == .fileEnd }

    private mutating func token(after count: Int) -> PrismaToken {
        while ahead.count <= count { ahead.append(lexer.next()) }
        return ahead[count]
    }

    private mutating func take() -> PrismaToken {
        let token = next
        guard token.kind != .fileEnd else { return token }
        if ahead.count > 1 { ahead.removeFirst() } else { ahead[0] = lexer.next() }
        return token
    }

    private mutating func take(_ mark: String) -> Bool {
        guard next.isMark(mark) else { return false }
        _ = take()
        return true
    }

    private mutating func skipLineEnds() { while next.kind == .lineEnd { _ = take() } }

    private mutating func skipLine() { while ![.lineEnd, .fileEnd].contains(next.kind) { _ = take() } }

    /// Skips to the next line that begins with a block's keyword, to continue after an error in the head of a block.
    private mutating func skipToBlock() {
        repeat {
            skipLine()
            skipLineEnds()
        } while !isAtEnd && !(next.kind == .name && Self.keywords.contains(next.text))
    }

    private mutating func isAtBlock() -> Bool {
        guard next.kind == .name, Self.keywords.contains(next.text) else { return false }
        return token(after: 1).kind == .name && token(after: 2).isMark("{")
    }

    private func unexpected(_ expected: String, remedy: String? = nil) -> SchemaError {
        SchemaError(.syntax, at: next.location, "expected \(expected), not \(next.words)", remedy: remedy)
    }

    private mutating func name(_ expected: String) throws(SchemaError) -> PrismaSyntax.Name {
        guard next.kind == .name else { throw unexpected(expected) }
        guard next.text.utf8.first.map(PrismaLexer.isLetter) ?? false || isContract && next.text == "_id" else {
            throw SchemaError(
                .syntax, at: next.location, "a name must begin with a letter, not \"\(next.text)\"",
                remedy: "name it otherwise, and add @map(\"\(next.text)\") for its name in the database")
        }
        let token = take()
        return PrismaSyntax.Name(text: token.text, location: token.location)
    }
}

extension PrismaParser {
    private mutating func block() throws(SchemaError) -> PrismaSyntax.Block {
        let expected = "a block such as model, type or enum"
        guard next.kind == .name else { throw unexpected(expected) }
        guard Self.keywords.contains(next.text) else {
            throw unexpected(expected, remedy: Spelling.hint(for: next.text, among: Self.keywords))
        }
        let keyword = try name(expected)
        var block = PrismaSyntax.Block(keyword: keyword, name: try name("the name of the \(keyword.text)"))
        if keyword.text == "type", next.isMark("=") {
            throw SchemaError(
                .unsupported, at: next.location, "a type that is a second name of another type is not supported",
                remedy: "write the other type where this one is used")
        }
        guard take("{") else { throw unexpected("'{'") }
        guard next.kind == .lineEnd else { throw unexpected("the end of the line after '{'") }
        let isConfiguration = ["datasource", "generator"].contains(keyword.text)
        while true {
            skipLineEnds()
            if take("}") { return block }
            if isFull { return block }
            if next.kind == .fileEnd || isAtBlock() {
                own.append(
                    SchemaError(
                        .syntax, at: block.name.location, "the \(keyword.text) \"\(block.name.text)\" has no end",
                        remedy: "end it with '}'"))
                return block
            }
            do throws(SchemaError) {
                if isConfiguration { block.properties.append(try property()) } else { try line(into: &block) }
                guard [.lineEnd, .fileEnd].contains(next.kind) || next.isMark("}") else {
                    throw unexpected("the end of the line")
                }
            } catch {
                fail(error)
                skipLine()
            }
        }
    }

    private mutating func property() throws(SchemaError) -> PrismaSyntax.Property {
        let name = try name("a line such as provider = \"mongodb\", or '}'")
        guard take("=") else { throw unexpected("'='") }
        return PrismaSyntax.Property(name: name, value: try expression())
    }

    private mutating func countPart() throws(SchemaError) {
        partCount += 1
        guard partCount <= SchemaNode.mostFields else {
            throw SchemaError(
                .tooLarge, at: next.location, "the file has more than \(SchemaNode.mostFields) fields and values",
                remedy: "divide it")
        }
    }

    private mutating func line(into block: inout PrismaSyntax.Block) throws(SchemaError) {
        try countPart()
        if take("@@") { return block.attributes.append(try attribute()) }
        let isEnum = block.keyword.text == "enum"
        let documentation = next.documentation
        var field = PrismaSyntax.Field(name: try name(isEnum ? "a value or '}'" : "a field, '@@' or '}'"))
        if !isEnum { field.type = try type(of: field.name) }
        if isEnum, isContract, take("=") { field.value = try expression() }
        while take("@") { field.attributes.append(try attribute()) }
        if next.isMark("@@") {
            throw SchemaError(
                .syntax, at: next.location, "'@@' begins an attribute of the whole \(block.keyword.text)",
                remedy: "write '@', or give it a line of its own")
        }
        // A comment at the end of a list of several lines documents the list, and not the field.
        let isOneLine = next.kind == .lineEnd && next.location.line == field.name.location.line
        field.documentation = [documentation, isOneLine ? next.documentation : ""].joined(separator: "\n")
        block.fields.append(field)
    }

    private mutating func type(of field: PrismaSyntax.Name) throws(SchemaError) -> PrismaSyntax.TypeName {
        guard next.kind == .name else { throw unexpected("the type of \"\(field.text)\"") }
        var type = PrismaSyntax.TypeName(name: try name("a type"))
        if type.name.text == "Unsupported", take("(") {
            guard next.kind == .string else { throw unexpected("the name of a type in quotation marks") }
            type.isUnsupported = true
            _ = take()
            guard take(")") else { throw unexpected("')'") }
        }
        if take("[") {
            guard take("]") else { throw unexpected("']'") }
            type.arity = .list
            if isContract, take("?") { type.isOptionalList = true }
            if next.isMark("?") {
                throw SchemaError(
                    .syntax, at: next.location, "a list cannot be optional",
                    remedy: "remove '?': a missing list reads as an empty one")
            }
        } else if take("?") {
            type.arity = .optional
        }
        return type
    }

    private mutating func attribute() throws(SchemaError) -> PrismaSyntax.Attribute {
        var attribute = PrismaSyntax.Attribute(name: try path("the name of an attribute"))
        if take("(") { attribute.arguments = try arguments() }
        return attribute
    }

    private mutating func path(_ expected: String) throws(SchemaError) -> PrismaSyntax.Name {
        var path = try name(expected)
        while take(".") {
            try countPart()
            path.text += "." + (try name("a name after '.'")).text
        }
        return path
    }
}

extension PrismaParser {
    private mutating func arguments() throws(SchemaError) -> [PrismaSyntax.Argument] {
        try elements(until: ")") { (parser) throws(SchemaError) in
            var name: PrismaSyntax.Name?
            if parser.next.kind == .name, parser.token(after: 1).isMark(":") {
                name = try parser.name("an argument")
                _ = parser.take()
                parser.skipLineEnds()
            }
            return PrismaSyntax.Argument(name: name, value: try parser.expression())
        }
    }

    private mutating func elements<Element>(
        until end: String, _ read: (inout Self) throws(SchemaError) -> Element
    ) throws(SchemaError) -> [Element] {
        var elements: [Element] = []
        while true {
            skipLineEnds()
            if take(end) { return elements }
            try countPart()
            elements.append(try read(&self))
            skipLineEnds()
            guard next.isMark(end) || take(",") else { throw unexpected("',' or '\(end)'") }
        }
    }

    private mutating func expression() throws(SchemaError) -> PrismaSyntax.Expression {
        let location = next.location
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else {
            throw SchemaError(.tooDeep, at: location, "lists and functions are nested more than 100 levels deep")
        }
        let value: PrismaSyntax.Expression.Value
        switch next.kind {
        case .string: value = .string(take().text)
        case .number: value = .number(take().text)
        case .mark where take("["):
            value = .list(try elements(until: "]") { (parser) throws(SchemaError) in try parser.expression() })
        case .name:
            let name = try path("a value")
            value = take("(") ? .function(name.text, try arguments()) : .word(name.text)
        default: throw unexpected("a value")
        }
        return PrismaSyntax.Expression(value: value, location: location)
    }
}
