import BSON
import JobState
import Jobs
import Mongo

/// The update statements with which an undo restores documents.
struct RestoringStatements {
    /// The statements, each for documents that are restored in the same way.
    private(set) var all: [UpdateStatement] = []
    private var groups: [[Restoring]] = []
    /// The `_id`s of documents that cannot be restored, because the command would be too large.
    private(set) var tooLarge: [BSONValue] = []
    /// The `_id`s of documents whose restored fields are put at the end of the document, because a command that keeps
    /// the positions would be too large.
    private(set) var moved: [BSONValue] = []

    /// The number of bytes that a statement must stay below, so that a command with only this statement has less than
    /// 16 MiB.
    static let largest = (16 << 20) - (16 << 10)

    /// - Parameters:
    ///   - isGrouped: whether documents that are restored in the same way share a statement. If the server refuses one
    ///     of these documents, its reply does not name it.
    ///   - isGuarded: whether each document must still be as it was read.
    init(_ documents: [Restoring], grouped isGrouped: Bool, guarded isGuarded: Bool) throws(BSONError) {
        for group in isGrouped && !isGuarded ? try Self.groups(documents) : documents.map({ [$0] }) {
            var isPlaced = group.first?.group.places != nil
            guard var one = try Restoring.statement(group, isPlaced: isPlaced, guarded: isGuarded) else { continue }
            if isPlaced, one.byteCount >= Self.largest,
                let other = try Restoring.statement(group, isPlaced: false, guarded: isGuarded)
            {
                (one, isPlaced) = (other, false)
            }
            guard one.byteCount < Self.largest else {
                if let only = group.first, group.count == 1 { tooLarge.append(only.id) }
                continue
            }
            if !isPlaced, group.first?.group.places != nil { moved += group.map(\.id) }
            groups.append(group)
            all.append(one)
        }
    }

    /// Returns the `_id` of a statement's document; `nil` if the statement has several documents.
    func onlyDocument(of statement: Int) -> BSONValue? {
        guard groups.indices.contains(statement), groups[statement].count == 1 else { return nil }
        return groups[statement].first?.id
    }

    private static func groups(_ documents: [Restoring]) throws(BSONError) -> [[Restoring]] {
        var order: [Restoring.Likeness] = []
        var alike: [Restoring.Likeness: [Restoring]] = [:]
        var alone: [[Restoring]] = []
        for document in documents {
            guard let likeness = try document.likeness else {
                alone.append([document])
                continue
            }
            if alike[likeness] == nil { order.append(likeness) }
            alike[likeness, default: []].append(document)
        }
        return order.compactMap { alike[$0] }.flatMap { $0.slices(bytes: 4 << 20) { $0.id.byteCount + 10 } } + alone
    }
}
