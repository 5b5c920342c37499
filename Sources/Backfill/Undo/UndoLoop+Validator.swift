import BSON
import Jobs
import Mongo

/// What the collection's validator would refuse of documents as they were: said beforehand, by the server, which alone knows
/// all of its language.
extension UndoLoop {
    /// The server's code for a document that does not fit its validator.
    static var misfit: Int { MongoError.Code.documentValidationFailure.rawValue }

    /// Whether whole documents are judged, and not only the fields that the job wrote.
    var judgesWhole: Bool { budget != nil || kernel.isDry && subject.validator != nil }

    /// The `_id`s of those that it would refuse; none where the server cannot be asked, which ``validatorNotes`` says.
    func refusedByValidator(_ due: [Restoring]) throws -> Set<BSONValue> {
        guard let validator = subject.validator, validator.canBeAsked, !due.isEmpty else { return [] }
        var options: BSONDocument = ["comment": "shipshape undo"]
        if let collation = validator.collation { options = options.appending("collation", .object(collation)) }
        let misfits: BSONDocument = ["$match": ["$nor": [.object(validator.condition)]]]
        func refused(_ documents: [BSONDocument]) throws -> Set<BSONValue> {
            let found = try kernel.retrying {
                try collection.aggregate(over: documents, [misfits, ["$project": ["_id": 1]]], options: options)
            }
            return Set(found.compactMap { $0["_id"] })
        }
        let before = try refused(try due.map { try $0.restored() })
        // Under "moderate" a document that does not fit already may be changed.
        guard validator.isModerate, !before.isEmpty else { return before }
        return before.subtracting(try refused(due.map(\.current)))
    }

    /// What is to be said of the validator, once all is compared.
    var validatorNotes: [String] {
        guard let validator = subject.validator else { return [] }
        guard validator.canBeAsked || !kernel.isDry else {
            return [
                "the collection's validator refuses what does not fit, and a server before MongoDB 5.1 cannot be asked "
                    + "beforehand which old values those are: the undo skips and lists them"
            ]
        }
        let count = tally.report.filter { $0.left.reason == .refused && $0.left.code == Self.misfit }.reduce(0) {
            $0 + $1.count
        }
        guard count > 0 else { return [] }
        return [
            "the validator of \(subject.namespace) refuses \(count == 1 ? "a document" : "\(count) documents") as "
                + "\(count == 1 ? "it was" : "they were") before the job: to take back all, first put the earlier validator "
                + "back (shipshape enforce --abort, or collMod), or set its action to warn"
        ]
    }
}
