internal import BSON

extension LocatedBSON {
    /// Reads extended JSON, canonical or relaxed.
    ///
    /// Unlike libbson alone it keeps places and repeated names, and follows deeper nesting; libbson reads the wrappers.
    /// - Throws: ``SchemaError`` for a wrapper whose value is no value of its type, or a name with a NUL.
    package init(_ json: LocatedJSON) throws(SchemaError) {
        location = json.location
        switch json.value {
        case .null: value = .scalar(.null)
        case .bool(let flag): value = .scalar(.bool(flag))
        case .string(let text): value = .scalar(.string(text))
        case .number(let text): value = .scalar(Self.number(text))
        case .array(let elements):
            var result: [LocatedBSON] = []
            for element in elements { result.append(try LocatedBSON(element)) }
            value = .array(result)
        case .object(let members):
            if Self.isWrapper(members) {
                value = .scalar(try Self.wrapped(json))
            } else {
                value = .object(try Self.members(members))
            }
        }
    }

    private static func members(_ members: [LocatedJSON.Member]) throws(SchemaError) -> [Member] {
        var result: [Member] = []
        for member in members {
            guard !member.name.utf8.contains(0) else {
                throw SchemaError(
                    .wrongValue, at: member.nameLocation, "BSON has no names with a NUL", remedy: "rename the field")
            }
            let value = try LocatedBSON(member.value)
            result.append(Member(name: member.name, nameLocation: member.nameLocation, value: value))
        }
        return result
    }

    /// Whole numbers take the smallest type that holds them, as libbson has it.
    private static func number(_ text: String) -> BSONValue {
        if let integer = Int64(text) { return Int32(exactly: integer).map { .int($0) } ?? .long(integer) }
        return .double(Double(text) ?? .nan)
    }

    /// Whether the members spell a scalar; schemas name fields like these too, `$id` for instance.
    private static func isWrapper(_ members: [LocatedJSON.Member]) -> Bool {
        let names = members.map(\.name)
        return switch names.first {
        case "$oid", "$symbol", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$uuid", "$timestamp",
            "$regularExpression", "$dbPointer", "$date", "$minKey", "$maxKey", "$undefined":
            names.count == 1
        case "$binary": names.count == 1 || names == ["$binary", "$type"]
        case "$code": names.count == 1 || names == ["$code", "$scope"]
        case "$scope": names == ["$scope", "$code"]
        case "$type": names == ["$type", "$binary"]
        default: false
        }
    }

    private static func wrapped(_ json: LocatedJSON) throws(SchemaError) -> BSONValue {
        do throws(BSONError) {
            return try BSONValue(extendedJSON: json.withPlainZone.jsonText)
        } catch {
            throw SchemaError(.wrongValue, at: json.location, "this is not extended JSON: \(error)")
        }
    }
}

extension LocatedJSON {
    /// The value, in which the zone of a date has no colon: libbson reads `+0100` alone.
    fileprivate var withPlainZone: LocatedJSON {
        guard let date = self["$date"]?.text, date.utf8.count > 6 else { return self }
        let zone = Array(date.utf8.suffix(6))
        guard zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"), zone[3] == UInt8(ascii: ":"),
            case .object(var members) = value
        else { return self }
        members[0].value.value = .string(String(date.dropLast(3)) + String(date.suffix(2)))
        var result = self
        result.value = .object(members)
        return result
    }

    /// The value as JSON text, on one line.
    fileprivate var jsonText: String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text): text
        case .string(let text): text.quotedAsJSON
        case .array(let elements): "[\(elements.map { $0.jsonText }.joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\($0.name.quotedAsJSON):\($0.value.jsonText)" }.joined(separator: ","))}"
        }
    }
}
