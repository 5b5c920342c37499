import BSON
import Patterns

/// A node of a compiled expression.
///
/// A node names its operands by ``NodeID``, and constants, names and patterns by their places in a ``NodeTable``. Swift
/// can therefore copy a node without a change of a reference count, which two threads would contend for.
enum Node: Sendable {
    /// The value in which a path of field names starts: the document or a variable.
    enum Base: Hashable, Sendable {
        case root
        case variable(Int32)
    }

    /// The order that a comparison requires of its two values.
    enum Order: Sendable { case equal, unequal, less, atMost, greater, atLeast }

    /// The places of consecutive operands in a ``NodeTable``.
    typealias Operands = Range<Int32>
    /// The places of consecutive names in ``NodeTable/names``.
    typealias Names = Range<Int32>
    /// The place of a variable in ``Frame/slots``.
    typealias Slot = Int32

    case constant(Int32)
    case missing
    case path(Base, Names)
    /// A path that starts at a top-level field; the number is the field's index in ``Frame/fields``.
    case field(Int32, Names)

    case all(Operands)
    case any(Operands)
    case not(NodeID)
    case hasType(NodeID, TypeSet)
    /// Whether a top-level field has one of the types; the number is the field's index in ``Frame/fields``.
    case fieldHasType(Int32, TypeSet)
    case compare(Order, NodeID, NodeID)
    case isAmong(NodeID, NodeID)
    /// Whether two values are the same by the condition `by`, which compares the variables `left` and `right`.
    ///
    /// See ``Expression/comparesLeftAndRight(_:)``. If the bytes of the two values already show the result, the
    /// condition is not evaluated.
    case isSame(Operands, from: Slot, by: NodeID)
    case someElement(NodeID)
    case everyElement(NodeID)
    /// Whether `$mergeObjects` with an object as its only operand returns a changed object.
    ///
    /// `$mergeObjects` keeps one field of each name, and renumbers arrays whose keys are not 0, 1, 2 and so on. With
    /// `seesKeys`, a change of any byte counts. Otherwise, only a change of the object's size counts; renumbering does
    /// not always change the size.
    case changesByMerging(NodeID, seesKeys: Bool)

    case type(NodeID)
    case choose(if: NodeID, then: NodeID, else: NodeID)
    case firstPresent(Operands)
    /// Binds the values to the variables in the slots from `from` on, and evaluates `in`.
    case bind(Operands, from: Slot, in: NodeID)

    case array(Operands)
    /// An object of as many fields as there are names; each has the value of the operand at the same place.
    case object(Names, Operands)
    case map(NodeID, slot: Slot, to: NodeID)
    case filter(NodeID, slot: Slot, by: NodeID)
    case entries(NodeID)
    case fromEntries(NodeID)
    case merged(Operands)
    case element(NodeID, at: NodeID)
    case count(NodeID)
    case zip(Operands)

    case absolute(NodeID)
    case rounded(NodeID)
    case product(NodeID, NodeID)
    case quotient(NodeID, NodeID)

    case concat(Operands)
    case split(NodeID, by: NodeID)
    case byteCount(NodeID)
    case byteIndex(NodeID, of: NodeID, from: NodeID?, to: NodeID?)
    case bytes(NodeID, from: NodeID, count: NodeID)
    case trimmedEnd(NodeID, of: NodeID)
    /// Whether a text matches the pattern at this place in ``NodeTable/patterns``.
    case matches(NodeID, pattern: Int32)

    case convert(NodeID, to: NodeID, onError: NodeID?, onNull: NodeID?)
    case size(NodeID)
    /// The operator, option or variable at this place in ``NodeTable/names``, which the client does not know.
    case unknown(Int32)
}

/// The place of a node in a ``NodeTable``.
struct NodeID: Sendable {
    let index: Int32
}

/// The nodes of an expression, and the tables to which they refer; a node stands after its operands.
struct NodeTable: Sendable {
    private var nodes: [Node] = []
    private var operands: [NodeID] = []
    private(set) var constants: [BSONValue] = []
    private(set) var names: [String] = []
    private(set) var patterns: [Pattern] = []

    subscript(_ id: NodeID) -> Node { nodes[Int(id.index)] }

    subscript(operand place: Int32) -> NodeID { operands[Int(place)] }

    mutating func add(_ node: Node) -> NodeID { NodeID(index: Self.append(node, to: &nodes)) }

    mutating func add(_ operands: [NodeID]) -> Node.Operands {
        let start = Int32(self.operands.count)
        self.operands += operands
        return start..<Int32(self.operands.count)
    }

    mutating func add(_ names: [String]) -> Node.Names {
        let start = Int32(self.names.count)
        self.names += names
        return start..<Int32(self.names.count)
    }

    mutating func add(constant value: BSONValue) -> Int32 { Self.append(value, to: &constants) }
    mutating func add(name: String) -> Int32 { Self.append(name, to: &names) }
    mutating func add(pattern: Pattern) -> Int32 { Self.append(pattern, to: &patterns) }

    private static func append<Entry>(_ entry: Entry, to entries: inout [Entry]) -> Int32 {
        entries.append(entry)
        return Int32(entries.count - 1)
    }
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

    /// Adds the type of this name, such as `string`; does nothing if there is no type of that name.
    mutating func insert(_ alias: String) {
        let type = BSONType.all.first { $0.description == alias }
        bits |= alias == "missing" ? Self.missing : type.map(Self.bit) ?? 0
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
