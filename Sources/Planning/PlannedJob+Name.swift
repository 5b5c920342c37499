package import BSON
import Jobs

extension PlannedJob {
    /// Whether a text is a valid name for a planned job, even with the suffix of the job that follows it.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 60 && text.unicodeScalars.allSatisfy(isPlain)
    }

    /// Returns a name for the job and the file of a collection, which differs for each collection.
    package static func fileName(of namespace: Namespace) -> String {
        let scalars = "\(namespace)".unicodeScalars
        guard scalars.count > 50 || !scalars.allSatisfy(isPlain) else { return "\(namespace)" }
        let plain = String(String.UnicodeScalarView(scalars.prefix(40).map { isPlain($0) ? $0 : "-" }))
        return "\(plain)-\(SHA256.text(of: Array("\(namespace)".utf8)).prefix(8))"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
        default: false
        }
    }
}
