import BSON
import JobState
import Jobs
import Mongo

/// The update statements with which an undo restores documents; a document that changed after it was read is skipped.
struct RestoringStatements {
    /// The statements, each for documents that are restored in the same way.
    private(set) var all: [UpdateStatement] = []
    /// The documents of each statement.
    private var groups: [[Restoring]] = []
    /// The `_id`s of documents that cannot be restored, because the command would be too large: it has to hold the
    /// current values for the comparison, and the values to restore.
    private(set) var tooLarge: [BSONValue] = []
    /// The `_id`s of documents whose restored fields are put at the end of the document, because a command that keeps
    /// the positions would be too large.
    private(set) var moved: [BSONValue] = []

    /// The number of bytes that a statement must stay below, so that a command with only this statement has less than
    /// 16 MiB.
    static let largest = (16 << 20) - (16 << 10)

    /// - Parameters:
    ///   - isGrouped: whether documents that are restored in the same way share a statement. If the server refuses one
    ///     of these documents, it ends the whole statement.
    ///   - concurrency: the number of connections on which the statements are sent.
    init(
        _ documents: [Restoring], under lease: Lease, grouped isGrouped: Bool, for concurrency: Int
    ) throws(BSONError) {
        for group in isGrouped ? try Self.groups(documents, for: concurrency) : documents.map({ [$0] }) {
            var isPlaced = group.first?.group.places != nil
            guard var one = try Restoring.statement(group, under: lease, isPlaced: isPlaced) else { continue }
            if isPlaced, one.byteCount >= Self.largest,
                let other = try Restoring.statement(group, under: lease, isPlaced: false)
            {
                // A command that keeps the positions would hold the whole document twice, and would be too large. A
                // command with only the changed fields may fit.
                (one, isPlaced) = (other, false)
                moved += group.map(\.id)
            }
            guard one.byteCount < Self.largest else {
                if let only = group.first, group.count == 1 { tooLarge.append(only.id) }
                continue
            }
            groups.append(group)
            all.append(one)
        }
    }

    /// The statements, grouped by command.
    var commands: [[UpdateStatement]] {
        var first = 0
        let sizes = all.map { BSONValue.array(of: [.object($0.filter), $0.update]) }
        return sizes.commandSlices(count: 1_000).map { slice in
            defer { first += slice.count }
            return Array(all[first..<first + slice.count])
        }
    }

    /// Returns the `_id` of a statement's document; `nil` if the statement has several documents.
    func onlyDocument(of statement: Int) -> BSONValue? {
        groups[statement].count == 1 ? groups[statement].first?.id : nil
    }

    /// Returns groups of documents that are restored in the same way, with enough groups for all connections.
    ///
    /// A document forms a group of its own if the positions of its fields have to be restored, or if it may be restored
    /// only while all of its fields are unchanged. Small groups are joined if one statement can restore all of their
    /// documents; see ``Restoring/Likeness``.
    private static func groups(
        _ documents: [Restoring], for concurrency: Int
    ) throws(BSONError) -> [[Restoring]] {
        var alike: [Int: [Restoring]] = [:]
        var alone: [[Restoring]] = []
        for document in documents {
            if document.group.places == nil, !document.isWatched {
                alike[document.groupIndex, default: []].append(document)
            } else {
                alone.append([document])
            }
        }
        var shared: [[Restoring]] = []
        var joined: [Restoring.Likeness: [Restoring]] = [:]
        for (_, group) in alike.sorted(by: { $0.key < $1.key }) {
            if group.count < ChunkWriter.fewest, let likeness = try group[0].likeness {
                joined[likeness, default: []] += group
            } else {
                shared.append(group)
            }
        }
        let maximum = ChunkWriter.maximumCompared
        for documents in joined.values.sorted(by: { $0[0].groupIndex < $1[0].groupIndex }) {
            // The statement contains the list of `_id`s once in its filter, and again for each field that it compares.
            shared += documents.slices(count: maximum.documents, bytes: maximum.bytes) {
                $0.current.bytes.count + $0.id.byteCount * ($0.group.names.count + 1)
            }
        }
        // Large groups are divided, so that every connection gets statements to send.
        return (shared.count < concurrency ? shared.flatMap { $0.parts(concurrency, least: 50) } : shared) + alone
    }
}

extension UpdateStatement {
    /// About how many bytes the statement takes in a command.
    fileprivate var byteCount: Int { BSONDocument([("q", .object(filter)), ("u", update)]).bytes.count }
}
