import BSON
import Patterns

/// A node of a compiled expression.
indirect enum Node: Sendable {
    /// The value in which a path of field names starts: the document or a variable.
    enum Base: Hashable, Sendable {
        case root
        case variable(Int)
    }

    /// The order that a comparison requires of its two values.
    enum Order: Sendable { case equal, unequal, less, atMost, greater, atLeast }

    case constant(BSONValue)
    case missing
    case path(Base, [String])
    /// A path that starts at a top-level field; the number is the field's index in ``Frame/fields``.
    case field(Int, [String])

    case all([Node])
    case any([Node])
    case not(Node)
    case hasType(Node, TypeSet)
    /// Whether a top-level field has one of the types; the number is the field's index in ``Frame/fields``.
    case fieldHasType(Int, TypeSet)
    case compare(Order, Node, Node)
    case isAmong(Node, Node)
    /// Whether two values are the same by the condition `by`, which compares the variables `left` and `right`.
    ///
    /// See ``Expression/comparesLeftAndRight(_:)``. If the bytes of the two values already show the result, the
    /// condition is not evaluated.
    case isSame([(slot: Int, value: Node)], by: Node)
    case someElement(Node)
    case everyElement(Node)
    /// Whether `$mergeObjects` with an object as its only operand returns a changed object.
    ///
    /// `$mergeObjects` keeps one field of each name, and renumbers arrays whose keys are not 0, 1, 2 and so on. With
    /// `seesKeys`, a change of any byte counts. Otherwise, only a change of the object's size counts; renumbering does
    /// not always change the size.
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

/// A set of BSON types and the pseudo-type "missing", as a 64-bit mask.
struct TypeSet: Hashable, Sendable {
    private var bits: UInt64 = 0
    /// Returns the bit of a type in the 64-bit mask: the bit with the type's number.
    ///
    /// MinKey (0xFF) and MaxKey (0x7F) have the bits 62 and 61, because their numbers are too large for the mask.
    private static func bit(_ type: BSONType) -> UInt64 {
        switch type {
        case .minKey: 1 << 62
        case .maxKey: 1 << 61
        default: type.rawValue < 60 ? 1 << UInt64(type.rawValue) : 0
        }
    }
    private static let missing: UInt64 = 1

    /// Adds the type of this name, such as `string`; returns `false` if there is no type of that name.
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

/// The value to which a node evaluates for a document.
enum Operand: Sendable {
    case missing
    /// A value in the document, at any depth, given by its position in the document's bytes.
    case element(BSONElement)
    case value(BSONValue)

    /// The type of the value; `nil` for a missing value.
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

    /// Returns the text of a string value; `nil` for any other value, and for a string whose bytes are not UTF-8.
    func text(in document: borrowing BSONView) throws(NotEvaluated) -> String? {
        guard type == .string, case .string(let text)? = try value(in: document) else { return nil }
        return text
    }
}

extension BSONBuilder {
    /// Appends a field with the value that `operand` has in `document`; appends nothing if the value is missing.
    mutating func append(_ name: String, _ operand: Operand, of document: borrowing BSONView) {
        switch operand {
        case .missing: break
        case .element(let element): append(name, element, of: document)
        case .value(let value): append(name, value)
        }
    }
}
