package import ServerSchema

/// The kind of value that a schema describes to a client.
///
/// To a client, schemas of different shapes are different types.
package enum Shape: Hashable, Sendable {
    /// One value of one of these types, or of any type if there are none.
    case single(Set<SchemaType>)
    /// An embedded object, whatever its title.
    case embedded
    /// A dictionary of any values.
    case dictionary
    /// A list of any elements.
    case list
    /// A set of any elements.
    case set

    /// Creates the shape of the values that a schema admits.
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

    /// Returns the kind of change when a property of this shape takes another shape; `nil` when both are the same.
    func change(to other: Shape) -> ChangeKind? {
        switch (self, other) {
        case _ where self == other: nil
        case (.list, .set), (.set, .list): .listSetChanged
        case (.single([.int]), .single([.long])), (.single([.long]), .single([.int])): .integerWidthChanged
        case (.single(let before), .single(let after)) where Self.isWidening(before, after): .numberWidened
        // Both are stored as objects, so the number of values does not change.
        case (.embedded, .dictionary), (.dictionary, .embedded): .propertyTypeChanged
        case _ where isCollection != other.isCollection: .cardinalityChanged
        default: .propertyTypeChanged
        }
    }

    /// Returns the kind of change when the primary key takes another shape; `nil` when both are the same.
    func idChange(to other: Shape) -> ChangeKind? { self == other ? nil : .idTypeChanged }

    /// Returns the kind of change when elements of a list or a set, or values of a dictionary, take another shape;
    /// `nil` when both shapes are the same.
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
