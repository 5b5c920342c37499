package import BSON

/// A BSON value with its position in a file, for readers that need BSON's types.
package typealias LocatedBSON = Located<BSONValue>

extension LocatedBSON {
    /// Wraps a value from a server.
    /// - Parameter place: the location that errors and notes state, for example the name of a collection's validator.
    /// - Throws: ``BSONError`` if a nested document is damaged.
    package init(_ value: BSONValue, at place: SourceLocation) throws(BSONError) {
        location = place
        switch value {
        case .object(let document):
            var members: [Member] = []
            for (name, child) in try document.elements() {
                members.append(Member(name: name, nameLocation: place, value: try LocatedBSON(child, at: place)))
            }
            self.value = .object(members)
        case .array(let document):
            var elements: [LocatedBSON] = []
            for (_, child) in try document.elements() { elements.append(try LocatedBSON(child, at: place)) }
            self.value = .array(elements)
        default: self.value = .scalar(value)
        }
    }

    /// The value without positions.
    package var bson: BSONValue {
        switch value {
        case .scalar(let value): value
        case .array(let elements): .array(of: elements.map(\.bson))
        case .object(let members): .object(BSONDocument(members.map { ($0.name, $0.value.bson) }))
        }
    }

    /// The text of a string; `nil` for any other value.
    package var text: String? {
        if case .scalar(.string(let text)) = value { text } else { nil }
    }

    /// The value's type, with its article, for messages.
    package var kind: String {
        switch value {
        case .array: "an array"
        case .object: "an object"
        case .scalar(.null): "null"
        case .scalar(.bool): "a boolean"
        case .scalar(.string): "a string"
        case .scalar(let value) where BSONNumber(value) != nil: "a number"
        case .scalar(let value): "a value of type \(value.type)"
        }
    }
}

extension LocatedBSON {
    /// Reads extended JSON, canonical or relaxed.
    ///
    /// The initializer passes only wrappers such as `{"$oid": …}` to libbson. It reads all other JSON itself, to keep
    /// positions and repeated names, and to allow deep nesting.
    /// - Throws: ``SchemaError`` for a wrapper whose value does not fit its type, or for a name that contains a NUL.
    package init(_ json: LocatedJSON) throws(SchemaError) {
        location = json.location
        switch json.value {
        case .scalar(.null): value = .scalar(.null)
        case .scalar(.bool(let flag)): value = .scalar(.bool(flag))
        case .scalar(.string(let text)): value = .scalar(.string(text))
        case .scalar(.number(let text)): value = .scalar(Self.number(text))
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
                    .wrongValue, at: member.nameLocation, "a BSON field name cannot contain a NUL",
                    remedy: "rename the field")
            }
            let value = try LocatedBSON(member.value)
            result.append(Member(name: member.name, nameLocation: member.nameLocation, value: value))
        }
        return result
    }

    /// Returns the value of a number; a whole number gets the smallest type that can hold it, as in libbson.
    private static func number(_ text: String) -> BSONValue {
        if let integer = Int64(text) { return Int32(exactly: integer).map { .int($0) } ?? .long(integer) }
        return .double(Double(text) ?? .nan)
    }

    /// Whether the members of an object are a wrapper of extended JSON for a scalar.
    ///
    /// A first name that begins with `$` does not prove that the object is a wrapper, because the objects of schemas
    /// have names such as `$id`.
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
    /// The value without the colon in the time zone of its `$date`, because libbson reads `+0100` but not `+01:00`.
    fileprivate var withPlainZone: LocatedJSON {
        guard let date = self["$date"]?.text, date.utf8.count > 6 else { return self }
        let zone = Array(date.utf8.suffix(6))
        guard zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"), zone[3] == UInt8(ascii: ":"),
            case .object(var members) = value
        else { return self }
        members[0].value.value = .scalar(.string(String(date.dropLast(3)) + String(date.suffix(2))))
        var result = self
        result.value = .object(members)
        return result
    }

    fileprivate var jsonText: String {
        switch value {
        case .scalar(.null): "null"
        case .scalar(.bool(let flag)): flag ? "true" : "false"
        case .scalar(.number(let text)): text
        case .scalar(.string(let text)): text.quotedAsJSON
        case .array(let elements): "[\(elements.map { $0.jsonText }.joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\($0.name.quotedAsJSON):\($0.value.jsonText)" }.joined(separator: ","))}"
        }
    }
}
