/// An annotation such as `@deprecated 2027-03-31`, which says until which day clients may use a property.
///
/// The annotation is a part of the property's `description`, because MongoDB refuses schemas with other keywords; in a
/// Prisma schema, it is in a `///` comment.
package struct Deprecation: Hashable, Sendable {
    /// The last day on which clients may use the property, as `YYYY-MM-DD`; `nil` if the annotation names no day of the
    /// calendar.
    package let day: String?

    /// Finds the annotation in a description; `nil` if it has none.
    package init?(in description: String) {
        let words = description.split(whereSeparator: \.isWhitespace)
        guard let index = words.firstIndex(of: Self.word) else { return nil }
        // The day may be the last word of a sentence, so the punctuation mark after it is cut off.
        let next = words.dropFirst(index + 1).first?.prefix { $0.isASCII && ($0.isNumber || $0 == "-") }
        day = next.flatMap { CalendarDay.isDay($0) ? String($0) : nil }
    }

    private static let word: Substring = "@deprecated"
}
