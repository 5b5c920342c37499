package import ServerSchema

/// The kind of value that a schema describes to a client.
///
/// A client treats values of different shapes as different types; only a single `int` and a single `long` are one type
/// for it.
package enum Shape: Hashable, Sendable {
    /// A single value of one of these types, or of any type if the set is empty.
    case single(Set<SchemaType>)
    /// An embedded object with any title.
    case embedded
    /// A dictionary with any type of values.
    case dictionary
    /// A list with any type of elements.
    case list
    /// A set with any type of elements.
    case set

    package init(_ node: SchemaNode) {
        if node.isDictionary {
            self = .dictionary
        } else if node.isEmbedded {
            self = .embedded
        } else if node.isSet {
            self = .set
        } else if node.isList {
            self = .list
        } else {
            self = .single(Set(node.types))
        }
    }

    private static func isWidening(_ old: Set<SchemaType>, _ new: Set<SchemaType>) -> Bool {
        guard let from = old.first, let to = new.first, old.count == 1, new.count == 1 else { return false }
        return [.int, .long, .double].contains(from) && from != to
            && (to == .decimal || to == .double)
    }

    private var isCollection: Bool {
        switch self {
        case .single, .embedded: false
        case .dictionary, .list, .set: true
        }
    }

    /// Returns the kind of change if a property with this shape gets the shape `other`; `nil` if the shapes are equal.
    func change(to other: Shape) -> ChangeKind? {
        switch (self, other) {
        case _ where self == other: nil
        case (.list, .set), (.set, .list): .listSetChanged
        case (.single([.int]), .single([.long])), (.single([.long]), .single([.int])): .integerWidthChanged
        case (.single(let before), .single(let after)) where Self.isWidening(before, after): .numberWidened
        // Embedded objects and dictionaries are both stored as one object, so this is a change of type, not of the
        // number of values.
        case (.embedded, .dictionary), (.dictionary, .embedded): .propertyTypeChanged
        case _ where isCollection != other.isCollection: .cardinalityChanged
        default: .propertyTypeChanged
        }
    }

    /// Returns the kind of change if a primary key with this shape gets the shape `other`; `nil` if the shapes are
    /// equal.
    func idChange(to other: Shape) -> ChangeKind? { self == other ? nil : .idTypeChanged }

    /// Returns the kind of change if elements or values with this shape get the shape `other`.
    ///
    /// The elements are those of a list or a set, and the values are those of a dictionary. The result is `nil` if the
    /// shapes are equal.
    func elementChange(to other: Shape) -> ChangeKind? {
        if case .single(let before) = self, case .single(let after) = other, before != after,
            before.subtracting([.null]) == after.subtracting([.null])
        {
            return .elementNullabilityChanged
        }
        return switch change(to: other)?.code {
        case nil: nil
        case .listSetChanged: .listSetChanged
        default: .elementTypeChanged
        }
    }
}
