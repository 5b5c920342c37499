package import BSON

/// Paths through lists and dictionaries: `pets.[].toy` is the field `toy` of every element.
///
/// An element is seen as an object with its value under `v`, as `$objectToArray` returns the values of a dictionary.
/// Below an element, a path therefore leads through objects again.
extension FieldPath {
    /// The name that stands for every element of a list and every value of a dictionary.
    package static let each = "[]"

    /// Whether the path leads into the elements of a list or a dictionary.
    package var leadsIntoElements: Bool { components.contains(Self.each) }

    /// The top-level field that the path begins with.
    package var topLevel: String { components[0] }

    /// The beginning of the path, as far as it leads through objects alone.
    package var untilElements: FieldPath {
        FieldPath(trusted: Array(components.prefix { $0 != Self.each }))
    }

    /// The lists and dictionaries that the path leads through, the outermost first, each as a path from an element of
    /// the one before.
    package var containers: [FieldPath] { Array(segments.dropLast()) }

    /// The path from an element of the innermost of ``containers`` to the field.
    var local: FieldPath { segments.last ?? self }

    /// The path up to the innermost element; fields with the same one are in the same element.
    var elementPath: ArraySlice<String> {
        components[..<(components.lastIndex(of: Self.each).map { $0 + 1 } ?? 0)]
    }

    /// The objects that a write to the path writes back in addition to what it changes.
    package var givenBack: [FieldPath] { parents + (components.last == Self.each ? [self] : []) }

    private var segments: [FieldPath] {
        guard leadsIntoElements else { return [self] }
        return components.split(separator: Self.each, omittingEmptySubsequences: false).enumerated().map {
            index, names in
            FieldPath(trusted: (index == 0 ? [] : [Self.elementValue]) + names)
        }
    }

    private static let elementValue = "v"
}
