import BSON
import Checking
import ServerSchema

extension BSONDocument {
    /// Reads extended JSON with names that need no quotation marks, and with strings in single quotation marks.
    init(spelled text: String) throws {
        var json = text.replacing(/([{,]\s*)([$A-Za-z_][A-Za-z0-9_.]*):/) { "\($0.1)\"\($0.2)\":" }
        json = json.replacing("'", with: "\"")
        try self.init(extendedJSON: json)
    }
}

extension CompiledSchema {
    /// Compiles a schema in MongoDB's dialect.
    init(jsonSchema text: String) throws {
        let schema = try CollectionSchema(jsonSchema: BSONDocument(spelled: text), namespace: .people)
        self.init(schema)
    }

    func violations(of text: String) throws -> [Violation] {
        let document = try BSONDocument(spelled: text)
        return try violations(in: document.view, includingInfo: false)
    }

    func verdict(on text: String) throws -> Verdict {
        let document = try BSONDocument(spelled: text)
        return try check(document.view)
    }

    func verdict(on fields: [(String, BSONValue)]) throws -> Verdict {
        let document = BSONDocument(fields)
        return try check(document.view)
    }
}
