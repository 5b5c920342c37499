import BSON
import Checking
import ServerSchema

extension Backlinks {
    /// Returns sentences on documents that become embedded objects: how many have no, one, and several parents.
    ///
    /// When a client migrates its own copy of the data, the migration fails for documents without a parent or with
    /// several. The sentences quote the error messages of the migration.
    func sentences(ids: IDDisplay) -> [String] {
        let from = places.isEmpty ? "" : " (from \(Self.list(places)))"
        var sentences = [
            "\(target) becomes embedded\(from): \(without.count.documents) without a parent, \(one.count.grouped) "
                + "with one, \(several.count.grouped) with several"
        ]
        if without.count > 0 {
            let links = embedded == 1 ? "1 link is" : "\(embedded.grouped) links are"
            let rest = embedded == 0 ? "" : "; \(links) embedded already"
            sentences.append("\(Self.noneText) (\(without.count.documents)\(such(without, ids))\(rest))")
        }
        if several.count > 0 {
            sentences.append("\(Self.severalText) (\(several.count.documents)\(such(several, ids)))")
        }
        if !unread.isEmpty {
            sentences.append("Links from another database were not counted: \(Self.list(unread))")
        }
        return sentences
    }

    private static func list(_ places: [Place]) -> String {
        places.map { "\($0.namespace.collection).\($0.path)" }.joined(separator: ", ")
    }

    private func such(_ objects: Objects, _ ids: IDDisplay) -> String {
        let samples = objects.samples.compactMap(ids.text)
        return samples.isEmpty ? "" : ", such as _id \(samples.joined(separator: ", "))"
    }
}
