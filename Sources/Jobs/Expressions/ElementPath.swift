package import BSON

/// Paths through lists and dictionaries: `pets.[].toy` is the field `toy` of every element.
///
/// An element is seen as an object with its value under `v`, which is what `$objectToArray` makes of a dictionary's; so a
/// path below one is a path through objects again.
extension FieldPath {
    /// The name that stands for every element of a list and every value of a dictionary.
    package static let each = "[]"

    /// Whether the path leads into a list or a dictionary.
    package var leadsIntoElements: Bool { components.contains(Self.each) }

    /// The field of the document that the path begins with.
    package var topLevel: String { components[0] }

    /// The path as far as it leads through objects alone.
    package var untilElements: FieldPath {
        FieldPath(trusted: Array(components.prefix { $0 != Self.each }))
    }

    /// The lists and dictionaries that the path leads through, from the outermost, each as it is seen from an element of
    /// the one before.
    package var containers: [FieldPath] { Array(segments.dropLast()) }

    /// The field as it is seen from an element of the innermost of ``containers``.
    var local: FieldPath { segments.last ?? self }

    /// The path up to the innermost element: two fields with the same one stand in the same element.
    var elementPath: ArraySlice<String> {
        components[..<(components.lastIndex(of: Self.each).map { $0 + 1 } ?? 0)]
    }

    /// The objects that a write to the path gives back beside what it changes.
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
