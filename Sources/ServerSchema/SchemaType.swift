/// A type that a schema can demand of a value, by the alias that `bsonType` spells.
///
/// Source: `semantics.md` section 3.1 of the project's reference; the MongoDB manual, "Available Types".
public enum SchemaType: String, Hashable, Sendable, CaseIterable {
    /// One BSON type of the same name.
    case double, string, object, array, binData, objectId, bool, date, null, regex, javascript, int, timestamp, long,
        decimal, minKey, maxKey, symbol, undefined, dbPointer, javascriptWithScope
    /// Any of the four numeric types.
    case number
    /// Binary data of subtype 4 and 16 bytes; App Services only.
    case uuid
    /// Any syncable value; App Services only.
    case mixed
}
