package import ServerSchema

/// A remark on how a part of a schema was translated.
package struct ImportNote: Hashable, Sendable {
    /// The kind of a note, which shows how much attention the note needs.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The translation differs from the source in a way that a reviewer should look at.
        case warning
        /// The translation made a choice that the source does not dictate, such as the BSON type of a number.
        case decision
        /// A part of the source has no counterpart in a validator and was left out.
        case leftOut = "left-out"
    }

    /// The subject of a note; the raw value is stable.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The BSON types in which an integer or a number is stored.
        case numberType = "number-type"
        /// The BSON type in which a string with a format is stored.
        case formatType = "format-type"
        /// A string that is stored as an ObjectId.
        case objectID = "object-id"
        /// The validator allows null, although the source does not clearly allow it.
        case nullAllowed = "null-allowed"
        /// The source does not name `_id`, so the validator allows it, or counts it in `minProperties` or
        /// `maxProperties`.
        case idAllowed = "id-allowed"
        /// The source names a field `id`, and no `_id`.
        case idMissing = "id-missing"
        /// MongoDB reads a regular expression differently than JSON Schema does.
        case patternDiffers = "pattern-differs"
        /// MongoDB cannot use a regular expression.
        case patternUnusable = "pattern-unusable"
        /// A reference leads back to a schema that contains it.
        case recursion = "recursion"
        /// MongoDB cannot address a field because of its name.
        case nameUnusable = "name-unusable"
        /// A keyword that restricts values has no counterpart.
        case keywordLeftOut = "keyword-left-out"
        /// A format that a validator does not check.
        case formatLeftOut = "format-left-out"
        /// A keyword that restricts nothing, such as `default`.
        case annotationLeftOut = "annotation-left-out"
        /// A keyword that no draft of JSON Schema has.
        case unknownKeyword = "unknown-keyword"
        /// A schema or a pattern has no exact translation, so a keyword that depends on it is left out or weakened.
        case approximated = "approximated"
        /// The BSON types from which a Prisma client reads a scalar.
        case readTypes = "read-types"
    }

    /// The kind of the note, which shows how much attention it needs.
    package let kind: Kind
    package let code: Code
    /// The path of the values to which the note applies.
    package let path: SchemaPath
    /// The position, in the source file, of the part to which the note applies.
    package let location: SourceLocation
    /// The remark, as one clause; notes on the same fact at different paths have the same clause.
    package let message: String
}
