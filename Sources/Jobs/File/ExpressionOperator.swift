import ServerSchema

/// An aggregation operator that an expression in a job file may use.
///
/// An allowed operator gives the same result for the same document and has no side effect. All other operators are
/// refused, because the server also has internal operators that no client should send (`$_internalJsEmit` crashed a
/// mongod 6.0), and each server version adds more.
package struct ExpressionOperator {
    /// The first supported version of the server that has the operator.
    package let since: ServerVersion

    package struct ServerVersion: Sendable {
        /// The name of the version, such as `5.0`.
        package let name: String
        /// The wire protocol version that this server version reports.
        package let wireVersion: Int
    }

    /// Finds the operator with a name; `nil` if the name is unknown or not allowed.
    package init?(_ name: String) {
        guard let version = Self.all[name] else { return nil }
        since = version
    }

    /// Returns the most similar allowed name as a suggestion; `nil` if no name is similar.
    static func hint(for name: String) -> String? { Spelling.hint(for: name, among: all.keys.sorted()) }

    /// The allowed operators, by name.
    static let all = Dictionary(
        uniqueKeysWithValues: known.flatMap { version, names in names.split(separator: " ").map { ("$\($0)", version) }
        })

    private static let known: [(ServerVersion, String)] = [
        (
            ServerVersion(name: "4.4", wireVersion: 9),
            """
            abs acos acosh add allElementsTrue and anyElementTrue arrayElemAt arrayToObject asin asinh atan atan2 \
            atanh avg binarySize bsonSize ceil cmp concat concatArrays cond convert cos cosh dateFromParts \
            dateFromString dateToParts dateToString dayOfMonth dayOfWeek dayOfYear degreesToRadians divide eq exp \
            filter first floor gt gte hour ifNull in indexOfArray indexOfBytes indexOfCP isArray isNumber isoDayOfWeek \
            isoWeek isoWeekYear last let literal ln log log10 lt lte ltrim map max mergeObjects millisecond min minute \
            mod month multiply ne not objectToArray or pow radiansToDegrees range reduce regexFind regexFindAll \
            regexMatch replaceAll replaceOne reverseArray round rtrim second setDifference setEquals setIntersection \
            setIsSubset setUnion sin sinh size slice split sqrt stdDevPop stdDevSamp strLenBytes strLenCP strcasecmp \
            substr substrBytes substrCP subtract sum switch tan tanh toBool toDate toDecimal toDouble toInt toLong \
            toLower toObjectId toString toUpper trim trunc type week year zip
            """
        ),
        (
            ServerVersion(name: "5.0", wireVersion: 13),
            "dateAdd dateDiff dateSubtract dateTrunc getField setField unsetField"
        ),
        (ServerVersion(name: "5.1", wireVersion: 14), "tsIncrement tsSecond"),
        (ServerVersion(name: "5.2", wireVersion: 15), "firstN lastN maxN minN sortArray"),
        (ServerVersion(name: "6.3", wireVersion: 20), "bitAnd bitNot bitOr bitXor"),
        (ServerVersion(name: "7.0", wireVersion: 21), "median percentile"),
        (ServerVersion(name: "8.0", wireVersion: 25), "toUUID"),
    ]
}
