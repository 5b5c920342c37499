package import BSON
package import Jobs
import Patterns

/// An aggregation expression that the client evaluates exactly as the server does, or refuses to evaluate.
///
/// The server's own evaluator is the oracle: see `EvaluatorConformanceTests`. Everything that depends on the server's
/// version or on a collation, and every unknown operator, throws ``NotEvaluated``.
package struct CompiledExpression: Sendable {
    let root: Node
    /// The number of variables that the expression binds.
    let slotCount: Int
    /// Whether the collection has a collation, which the server uses to compare texts.
    let isCollated: Bool

    /// Compiles an expression; an unknown part throws only when a document needs it.
    /// - Parameter isCollated: whether the collection has a collation of its own.
    package init(_ expression: Expression, isCollated: Bool = false) {
        var compiler = ExpressionCompiler()
        root = compiler.compile(expression.bson).simplified
        (slotCount, self.isCollated) = (compiler.slotCount, isCollated)
    }

    /// Whether the expression holds for a document.
    package func holds(for document: borrowing BSONView) throws(NotEvaluated) -> Bool {
        var slots = [Operand](repeating: .missing, count: slotCount)
        return try truth(root, document, &slots)
    }

    /// Returns the value of the expression for a document; `nil` if it is missing.
    package func value(for document: borrowing BSONView) throws(NotEvaluated) -> BSONValue? {
        var slots = [Operand](repeating: .missing, count: slotCount)
        return try value(root, document, &slots).value(in: document)
    }
}

/// A node of a compiled expression.
indirect enum Node: Sendable {
    /// The start of a path.
    enum Base: Hashable, Sendable {
        case root
        case variable(Int)
    }

    /// The order that two values must have.
    enum Order: Sendable { case equal, unequal, less, atMost, greater, atLeast }

    case constant(BSONValue)
    case missing
    case path(Base, [String])

    case all([Node])
    case any([Node])
    case not(Node)
    case hasType(Node, TypeSet)
    case compare(Order, Node, Node)
    case isAmong(Node, Node)
    case someElement(Node)
    case everyElement(Node)
    /// Whether the server changes the object's bytes when it merges it.
    case changesByMerging(Node, seesKeys: Bool)

    case type(Node)
    case choose(if: Node, then: Node, else: Node)
    case firstPresent([Node])
    case bind([(slot: Int, value: Node)], in: Node)

    case array([Node])
    case object([(name: String, value: Node)])
    case map(Node, slot: Int, to: Node)
    case filter(Node, slot: Int, by: Node)
    case entries(Node)
    case fromEntries(Node)
    case merged([Node])
    case element(Node, at: Node)
    case count(Node)
    case zip([Node])

    case absolute(Node)
    case rounded(Node)
    case product(Node, Node)
    case quotient(Node, Node)

    case concat([Node])
    case split(Node, by: Node)
    case byteCount(Node)
    case byteIndex(Node, of: Node, from: Node?, to: Node?)
    case bytes(Node, from: Node, count: Node)
    case trimmedEnd(Node, of: Node)
    case matches(Node, pattern: Pattern)

    case convert(Node, to: Node, onError: Node?, onNull: Node?)
    case size(Node)
    case unknown(String)
}

/// A set of BSON types, which may include that of a missing value.
struct TypeSet: Hashable, Sendable {
    private var bits: UInt64 = 0
    /// MinKey and MaxKey, whose type bytes are 0xFF and 0x7F, have these bits.
    private static func bit(_ type: BSONType) -> UInt64 {
        switch type {
        case .minKey: 1 << 62
        case .maxKey: 1 << 61
        default: type.rawValue < 60 ? 1 << UInt64(type.rawValue) : 0
        }
    }
    private static let missing: UInt64 = 1

    /// Adds the type of this name; returns `false` if there is none.
    mutating func insert(_ alias: String) -> Bool {
        if alias == "missing" {
            bits |= Self.missing
            return true
        }
        guard let type = BSONType.all.first(where: { $0.description == alias }) else { return false }
        bits |= Self.bit(type)
        return true
    }

    static let numbers = TypeSet([.int, .long, .double, .decimal])

    init() {}

    private init(_ types: [BSONType]) { for type in types { bits |= Self.bit(type) } }

    func contains(_ type: BSONType?) -> Bool { bits & (type.map(Self.bit) ?? Self.missing) != 0 }
}

/// The value of a node for a document.
enum Operand: Sendable {
    case missing
    /// A value of the document at any depth, by its place in the document's bytes.
    case element(BSONElement)
    case value(BSONValue)

    /// The type; `nil` for a missing value.
    var type: BSONType? {
        switch self {
        case .missing: nil
        case .element(let element): element.type
        case .value(let value): value.type
        }
    }

    /// Whether the value is missing, null or undefined.
    var isNullish: Bool {
        switch type {
        case nil, .null, .undefined: true
        default: false
        }
    }

    /// Returns a copy of the value; `nil` for a missing value.
    func value(in document: borrowing BSONView) throws(NotEvaluated) -> BSONValue? {
        switch self {
        case .missing: return nil
        case .value(let value): return value
        case .element(let element):
            do { return try document.value(element) } catch { throw NotEvaluated(.damage) }
        }
    }

    func number(in document: borrowing BSONView) -> BSONNumber? {
        switch self {
        case .missing: nil
        case .value(let value): BSONNumber(value)
        case .element(let element): document.number(element)
        }
    }

    /// Returns the text of a string; `nil` for any other value, and for bytes that are not UTF-8.
    func text(in document: borrowing BSONView) throws(NotEvaluated) -> String? {
        guard type == .string, case .string(let text)? = try value(in: document) else { return nil }
        return text
    }
}
