package import BSON
package import Jobs
import Mongo
import Steps

/// Makes documents of one side from documents of the other side.
struct Translation {
    let partner: Partner
    /// The side that the documents come from.
    let side: PartnerSide
    /// The collection through which the server computes the results of steps.
    let collection: MongoCollection

    /// The form of a document on the other side.
    enum Outcome {
        /// The document on the other side, with its `_id` there.
        case document(BSONDocument)
        /// The document cannot exist there, or would come back changed.
        case refused(Refusal)
    }

    /// Returns the outcome of each document, in their order; the steps back are not checked.
    func outcomes(of documents: [BSONDocument]) throws -> [Outcome] {
        try each(of: documents) { try made(of: Array(documents[$0])) }
    }

    /// Returns the outcomes of all documents; a document that cannot be sent, or is too large together with its result,
    /// is refused alone.
    private func each(
        of documents: [BSONDocument], in range: Range<Int>? = nil, _ outcomes: (Range<Int>) throws -> [Outcome]
    ) throws -> [Outcome] {
        let range = range ?? 0..<documents.count
        do { return try outcomes(range) } catch {
            guard let reason = Refusal.Reason(ofOneDocument: error) else { throw error }
            guard range.count > 1 else {
                return [.refused(Refusal(id: documents[range.lowerBound]["_id"] ?? .undefined, reason: reason))]
            }
            let middle = range.lowerBound + range.count / 2
            return try each(of: documents, in: range.lowerBound..<middle, outcomes)
                + each(of: documents, in: middle..<range.upperBound, outcomes)
        }
    }

    private func made(of documents: [BSONDocument]) throws -> [Outcome] {
        let stripped = try documents.map { try $0.without(partner.job.own(side)) }
        let made = try partner.steps(from: side).outcomes(of: stripped, by: collection)
        return try zip(documents, made).map { before, after in
            guard let id = before["_id"], let twin = partner.twin(of: id, on: side) else {
                return .refused(.init(id: before["_id"] ?? .undefined, reason: .id))
            }
            if let trouble = after.trouble { return .refused(.init(id: id, reason: .step(trouble))) }
            return .document(try after.document.replacing("_id", with: twin))
        }
    }

    /// Returns the same outcomes, but refuses documents that would come back changed.
    func provenOutcomes(of documents: [BSONDocument]) throws -> [Outcome] {
        try proven(try outcomes(of: documents), of: documents)
    }

    /// Checks outcomes by the steps back, and refuses the documents that would come back changed.
    func proven(_ outcomes: [Outcome], of documents: [BSONDocument]) throws -> [Outcome] {
        try each(of: documents) { try returned(Array(outcomes[$0]), of: Array(documents[$0])) }
    }

    private func returned(_ outcomes: [Outcome], of documents: [BSONDocument]) throws -> [Outcome] {
        var outcomes = outcomes
        let made = outcomes.indices.compactMap { index -> (Int, BSONDocument)? in
            if case .document(let document) = outcomes[index] { (index, document) } else { nil }
        }
        let back = Translation(partner: partner, side: side.other, collection: collection)
        for ((index, _), outcome) in zip(made, try back.outcomes(of: made.map(\.1))) {
            let before = try documents[index].without(partner.job.own(side))
            let id = before["_id"] ?? .undefined
            switch outcome {
            case .refused(let refusal): outcomes[index] = .refused(.init(id: id, reason: refusal.reason))
            case .document(let returned):
                let fields = try before.differing(from: returned.without(partner.job.own(side)))
                if !fields.isEmpty { outcomes[index] = .refused(.init(id: id, reason: .lossy(fields))) }
            }
        }
        return outcomes
    }

    /// Returns a document made for the other side, adapted to the existing one: keeps that one's own fields, and the
    /// width of a whole number in its `_id`, which a string does not contain.
    func beside(_ made: BSONDocument, _ present: BSONDocument?) throws -> BSONDocument {
        let own = partner.job.own(side.other)
        guard let present else { return made }
        var made = made
        if let id = present["_id"], let other = made["_id"], id.type != other.type {
            made = try made.replacing("_id", with: id)
        }
        guard !own.isEmpty else { return made }
        var builder = BSONBuilder(continuing: try made.without(own))
        for name in own { if let value = present[name] { builder.append(name, value) } }
        return builder.finish()
    }
}

/// A document that cannot exist on the other side.
package struct Refusal: Hashable, Sendable {
    /// The document's `_id`.
    package var id: BSONValue
    /// The reason.
    package var reason: Reason

    /// The reason why a document cannot exist on the other side.
    package enum Reason: Hashable, Sendable {
        /// The `_id` has no form on the other side, or one that does not convert back to it.
        case id
        /// A step applies to the document, but cannot be done.
        case step(CompiledStep.Reason)
        /// These fields would come back changed.
        case lossy([String])
        /// The server refuses the document, with this code.
        case server(Int)
        /// The driver refuses to send the document.
        case damaged
        /// The reason as an earlier run recorded it.
        case recorded(String)
    }
}

extension Refusal {
    /// The server's code, if the server refuses the document.
    var serverCode: Int? { if case .server(let code) = reason { code } else { nil } }
}

extension Refusal.Reason: CustomStringConvertible {
    /// The reason as a clause.
    package var description: String {
        switch self {
        case .id: "its _id cannot be converted to the other side and back"
        case .step(let reason): reason.rawValue
        case .lossy(let fields): "would come back changed: \(fields.joined(separator: ", "))"
        case .server(MongoError.Code.duplicateKey.rawValue):
            "another document has the same key in a unique index (code 11000)"
        case .server(let code): "the server refuses it (code \(code))"
        case .damaged: "it holds data that no command can send, such as a field's name that is not UTF-8"
        case .recorded(let reason): reason
        }
    }
}

extension Refusal.Reason {
    /// Makes the reason from an error that concerns one document; `nil` for any other error.
    fileprivate init?(ofOneDocument error: any Error) {
        switch error {
        case is BSONError: self = .damaged
        case let error as MongoError where error.isOfOneDocument || error.code == .documentTooLarge:
            self = .server(error.code.rawValue)
        case let error as MongoError where error.isRefusedByDriver: self = .damaged
        default: return nil
        }
    }
}

extension BSONDocument {
    /// Returns the document without the named top-level fields.
    func without(_ names: [String]) throws(BSONError) -> BSONDocument {
        var document = self
        for name in names where document[name] != nil { document = try document.removing(name) }
        return document
    }

    /// Returns the names of the fields, except `_id`, that differ or exist in only one of the two documents.
    func differing(from other: BSONDocument) throws(BSONError) -> [String] {
        let (left, right) = (try removing("_id"), try other.removing("_id"))
        if left.hasSameFields(as: right) { return [] }
        var names: [String] = []
        for name in try left.elements().map(\.name) + right.elements().map(\.name) where !names.contains(name) {
            let values = [left[name], right[name]].map { value in value.map { BSONDocument([("", $0)]) } }
            if let one = values[0], let two = values[1], one.hasSameFields(as: two) { continue }
            names.append(name)
        }
        // The documents differ only in a repeated name.
        return names.isEmpty ? ["(root)"] : names
    }
}
