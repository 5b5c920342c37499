import BSON
import JobState
import Jobs

extension DocumentEvidence {
    private static let maximum = 6
    private static let largestValue = 256

    /// Chooses at most six fields: those with the largest numbers of distinct values in a sample of the documents.
    /// - Parameter touched: fields that cannot identify a document, because the job or clients change them.
    static func chosen(from sample: [BSONDocument], without touched: Set<String>) throws -> DocumentEvidence {
        var values: [String: Set<BSONDocument>] = [:]
        for document in sample {
            let view = document.view
            var position = view.firstPosition
            while let element = try view.next(&position) {
                let name = view.name(element)
                guard element.valueLength <= largestValue, !touched.contains(name), !name.hasPrefix("__shipshape"),
                    view.nameBytes(element).isEqual(to: name), (try? FieldPath(name))?.components.count == 1
                else { continue }
                var value = BSONBuilder()
                value.append("", element, of: view)
                values[name, default: []].insert(value.finish())
            }
        }
        let names = values.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.key)
        return DocumentEvidence(Array(names.prefix(maximum)))
    }
}
