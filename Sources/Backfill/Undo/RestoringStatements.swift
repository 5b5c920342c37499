import BSON
import JobState
import Jobs
import Mongo

/// The updates that give documents back as they were, where they are still as they were read.
struct RestoringStatements {
    /// The statements, each of documents that are restored alike.
    private(set) var all: [UpdateStatement] = []
    /// The documents of each.
    private var groups: [[Restoring]] = []
    /// Documents that no command holds: what is compared and what is put back travel together.
    private(set) var tooLarge: [BSONValue] = []
    /// Documents whose fields come to the end, as a command that puts them back to their places would be too large.
    private(set) var moved = 0

    /// The most bytes of a statement, so that a command that holds nothing else has less than 16 MiB.
    static let largest = (16 << 20) - (16 << 10)

    /// - Parameters:
    ///   - isGrouped: whether those that are restored alike share a statement; one that is refused then stops them all.
    ///   - concurrency: on how many connections they are to be sent.
    init(
        _ documents: [Restoring], under lease: Lease, grouped isGrouped: Bool, for concurrency: Int
    ) throws(BSONError) {
        for group in isGrouped ? Self.groups(documents, for: concurrency) : documents.map({ [$0] }) {
            var isPlaced = group.first?.group.places != nil
            guard var one = try Restoring.statement(group, under: lease, isPlaced: isPlaced) else { continue }
            if isPlaced, one.byteCount >= Self.largest,
                let other = try Restoring.statement(group, under: lease, isPlaced: false)
            {
                // The document stands in the command twice; its fields alone fit.
                (one, isPlaced) = (other, false)
                moved += 1
            }
            guard one.byteCount < Self.largest else {
                if let only = group.first, group.count == 1 { tooLarge.append(only.id) }
                continue
            }
            groups.append(group)
            all.append(one)
        }
    }

    /// The statements, those that one command holds together.
    var commands: [[UpdateStatement]] {
        var first = 0
        let sizes = all.map { BSONValue.array(of: [.object($0.filter), $0.update]) }
        return sizes.commandSlices(count: 1_000).map { slice in
            defer { first += slice.count }
            return Array(all[first..<first + slice.count])
        }
    }

    /// The `_id` of the one document that a statement is about; `nil` where there are more.
    func onlyDocument(of statement: Int) -> BSONValue? {
        groups[statement].count == 1 ? groups[statement].first?.id : nil
    }

    /// Documents that are restored alike, those of each connection together; one whose place among its fields matters stands
    /// alone, and so does one that has to be as it was.
    private static func groups(_ documents: [Restoring], for concurrency: Int) -> [[Restoring]] {
        var alike: [Int: [Restoring]] = [:]
        var alone: [[Restoring]] = []
        for document in documents {
            if document.group.places == nil, !document.isWatched {
                alike[document.groupIndex, default: []].append(document)
            } else {
                alone.append([document])
            }
        }
        let shared = alike.sorted { $0.key < $1.key }.map(\.value)
        // One large group is no work for several connections.
        return (shared.count < concurrency ? shared.flatMap { $0.parts(concurrency, least: 50) } : shared) + alone
    }
}

extension UpdateStatement {
    /// About what it takes in a command.
    fileprivate var byteCount: Int { BSONDocument([("q", .object(filter)), ("u", update)]).bytes.count }
}
