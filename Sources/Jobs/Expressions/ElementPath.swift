package import BSON

/// Paths through lists and dictionaries: `pets[].toy` is the field `toy` of every element.
///
/// In an expression, each element is an object that holds the element's value in the field `v`, as `$objectToArray`
/// returns the values of a dictionary. Below an element, a path therefore leads through objects again.
extension FieldPath {
    /// Whether the path leads into the elements of a list or a dictionary.
    package var leadsIntoElements: Bool { components.contains(Self.each) }

    /// The top-level field that the path begins with.
    package var topLevel: String { components[0] }

    /// The beginning of the path, up to the first list or dictionary whose elements it leads into.
    package var untilElements: FieldPath {
        FieldPath(trusted: Array(components.prefix { $0 != Self.each }))
    }

    /// The lists and dictionaries that the path leads through, the outermost first.
    ///
    /// The first path starts at the document, and each of the others at an element of the list or dictionary before it.
    package var containers: [FieldPath] { Array(segments.dropLast()) }

    /// The path from an element of the innermost of ``containers`` to the field; the whole path if there are no
    /// containers.
    var local: FieldPath { segments.last ?? self }

    /// The path up to the innermost element that the path leads into; empty if there is none.
    ///
    /// Two fields with the same path up to there are in the same element.
    var elementPath: ArraySlice<String> {
        components[..<(components.lastIndex(of: Self.each).map { $0 + 1 } ?? 0)]
    }

    /// The objects around the field, which a write to it writes back as a whole; for an element of a list, the element
    /// too.
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
