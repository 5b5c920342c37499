package import BSON

/// Paths through lists and dictionaries: `pets[].toy` is the field `toy` of every element.
///
/// In an expression, each element is an object that holds the element's value in the field `v`, as `$objectToArray`
/// returns the values of a dictionary. A path inside an element therefore begins with `v`.
extension FieldPath {
    package var leadsIntoElements: Bool { components.contains(Self.each) }

    package var topLevel: String { components[0] }

    /// The beginning of the path, up to the first list or dictionary whose elements it leads into.
    package var untilElements: FieldPath {
        FieldPath(trusted: Array(components.prefix { $0 != Self.each }))
    }

    /// The lists and dictionaries that the path leads through, the outermost first.
    ///
    /// The first path starts at the document. Every other path starts at an element of the list or dictionary before
    /// it.
    package var containers: [FieldPath] { Array(segments.dropLast()) }

    /// The path of the field inside an element of the innermost container; the whole path if there are no
    /// ``containers``.
    package var local: FieldPath { segments.last ?? self }

    /// The beginning of the path, up to and including its last `[]`; empty if the path has none.
    ///
    /// Two fields are in the same element if this beginning is the same for both.
    var elementPath: ArraySlice<String> {
        components[..<(components.lastIndex(of: Self.each).map { $0 + 1 } ?? 0)]
    }

    /// The paths of the objects that contain the field, which the server writes as a whole when it writes the field.
    ///
    /// If the field's own path ends with `[]`, the result includes that path.
    package var restoredPaths: [FieldPath] { parents + (components.last == Self.each ? [self] : []) }

    private var segments: [FieldPath] {
        guard leadsIntoElements else { return [self] }
        return components.split(separator: Self.each, omittingEmptySubsequences: false).enumerated().map {
            index, names in
            FieldPath(trusted: (index == 0 ? [] : [Self.elementValue]) + names)
        }
    }

    private static let elementValue = "v"
}

extension BSONDocument {
    /// Returns the values at a path; in a list or dictionary, those of all elements.
    package func values(at path: FieldPath) throws(BSONError) -> [BSONValue] {
        var found = [BSONValue.object(self)]
        for name in path.components {
            var next: [BSONValue] = []
            for value in found {
                if name == FieldPath.each {
                    next += value.document?.values ?? []
                } else if case .object(let object) = value, let inner = object[name] {
                    next.append(inner)
                }
            }
            found = next
        }
        return found
    }
}

extension FieldPath {
    /// Whether one path equals the other or lies inside it.
    package func overlaps(_ other: FieldPath) -> Bool { zip(components, other.components).allSatisfy { $0 == $1 } }

    func isOrLiesInside(_ other: FieldPath) -> Bool {
        components.count >= other.components.count && overlaps(other)
    }

    package func lies(inside other: FieldPath) -> Bool { self != other && isOrLiesInside(other) }

    /// Whether every parent of the field is an object.
    ///
    /// For a field of an element, only the parents inside the element count. The outermost parent is tested first, so
    /// that no test reads a field through an array.
    package var isReachable: Expression {
        let parents = local.parents
        return parents.isEmpty ? .constant(true) : .all(parents.map { Expression.field($0).hasType("object") })
    }

    /// Returns an expression for whether a parent of the field is not an object and meets the condition `such`.
    ///
    /// Only the outermost parent that is not an object is tested. The caller must pass a condition that is false for
    /// every object, because the expression also evaluates the condition for parents that are objects.
    /// - Returns: `nil` for a field without parents.
    func blocked(_ such: (Expression) -> Expression) -> Expression? {
        let parents = local.parents
        guard !parents.isEmpty else { return nil }
        let objects = parents.map { Expression.field($0).hasType("object") }
        return .any(parents.indices.map { .all(objects[..<$0] + [such(.field(parents[$0]))]) })
    }

    /// Whether the field can be reached and holds a list or a dictionary.
    package var isContainer: Expression { isReachable && Expression.field(self).hasType("array", "object") }
}
