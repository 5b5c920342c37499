import BSON
internal import CPages

/// The cases of the tests, which the program carries with it.
enum FixedCases {
    /// Each keyword of the dialect `jsonschema` with values on both sides of it.
    static let keywords: [CaseGroup] = {
        let page = unsafe shipshape_keyword_cases()
        let text = unsafe String(decoding: UnsafeBufferPointer(start: page.bytes, count: page.size), as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            guard let fixed = try? BSONDocument(extendedJSON: String(line)), let schema = fixed["schema"]?.document,
                let document = fixed["document"]?.document
            else { return nil }
            return CaseGroup(schema: schema, documents: [document])
        }
    }()
}
