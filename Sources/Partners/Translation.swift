package import BSON
package import Jobs
import Mongo
import Steps

/// Converts documents of one side of a partner into documents of the other side, by the steps of the partner job.
struct Translation {
    let partner: Partner
    /// The side of the documents that are translated.
    let side: PartnerSide
    /// The collection through which the server computes the results of steps.
    let collection: MongoCollection

    /// The result of translating one document.
    enum Outcome {
        /// The document for the other side, with the `_id` that it has on that side.
        case document(BSONDocument)
        /// The document cannot exist on the other side, or the steps in the other direction would not restore it.
        case refused(Refusal)
    }

    /// Returns the outcome of each document, in the order of the documents.
    ///
    /// The method does not check whether the steps in the opposite direction restore the document.
    func outcomes(of documents: [BSONDocument]) throws -> [Outcome] {
        try each(of: documents) { try made(of: Array(documents[$0])) }
    }

    /// Computes the outcomes of all documents in one call.
    ///
    /// If a document causes an error, the list is halved until this document is found.
    ///
    /// Only the document that causes the error is refused, for example because it cannot be sent, or because it is too
    /// large together with its result.
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

    /// Returns the outcome of each document.
    ///
    /// A document is refused if the steps in the other direction would not restore it.
    func provenOutcomes(of documents: [BSONDocument]) throws -> [Outcome] {
        try proven(try outcomes(of: documents), of: documents)
    }

    /// Applies the steps of the other direction to the outcomes, and refuses each document that these steps do not
    /// restore.
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

    /// Returns the translated document `made`, adapted to the document `present`, which it replaces on the other side.
    ///
    /// The result keeps the fields that only the other side has. It also keeps the integer type of the existing `_id`,
    /// because a string does not show whether the number had 32 or 64 bits.
    func adapted(_ made: BSONDocument, to present: BSONDocument?) throws -> BSONDocument {
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

/// A document that cannot be carried over to the other side, and the reason.
package struct Refusal: Hashable, Sendable {
    /// The `_id` of the refused document, as it is stored on the document's own side.
    package var id: BSONValue
    /// The reason why the document is refused.
    package var reason: Reason

    /// The reason why a document cannot be carried over to the other side.
    package enum Reason: Hashable, Sendable {
        /// The `_id` cannot be converted to the other side, or the conversion back gives another `_id`.
        case id
        /// A step applies to the document but cannot change it, for the given reason.
        case step(CompiledStep.Reason)
        /// The steps to the other side and back would change the given fields.
        case lossy([String])
        /// The server refuses the document with the given error code.
        case server(Int)
        /// The document is damaged, or the driver refuses to send it.
        case damaged
        /// A text that an earlier version of the program recorded as the reason.
        case recorded(String)
    }
}

extension Refusal {
    /// The server's error code, if the server refuses the document; otherwise `nil`.
    var serverCode: Int? { if case .server(let code) = reason { code } else { nil } }
}

extension Refusal.Reason {
    /// Whether two reasons are the same.
    ///
    /// A reason that an earlier version of the program recorded is only a text (``recorded(_:)``). It is the same as
    /// another reason if the other reason has the same text.
    func isSame(as other: Self) -> Bool {
        if case .recorded(let text) = self { return text == "\(other)" }
        if case .recorded(let text) = other { return text == "\(self)" }
        return self == other
    }

    /// The fields that a record in the state database has for the reason; ``init(_:)`` reads them.
    var fields: [(String, BSONValue)] {
        switch self {
        case .id: [("kind", "id")]
        case .step(let reason): [("kind", "step"), ("step", .string(reason.rawValue))]
        case .lossy(let fields): [("kind", "lossy"), ("fields", .array(of: fields.map { .string($0) }))]
        case .server(let code): [("kind", "server"), ("code", .integer(code))]
        case .damaged: [("kind", "damaged")]
        case .recorded: []
        }
    }

    /// Reads the reason from a record of the state database; earlier versions recorded a text and the server's error
    /// code.
    init(_ record: BSONDocument) {
        let fields = record["fields"]?.document?.values.compactMap(\.text)
        let step = record["step"]?.text.flatMap(CompiledStep.Reason.init)
        switch (record["kind"]?.text, record["code"]?.integer, step, fields) {
        case ("id", _, _, _): self = .id
        case ("step", _, let reason?, _): self = .step(reason)
        case ("lossy", _, _, let fields?): self = .lossy(fields)
        case ("damaged", _, _, _): self = .damaged
        case (_, let code?, _, _): self = .server(code)
        default: self = .recorded(record["reason"]?.text ?? "")
        }
    }
}

extension Refusal.Reason: CustomStringConvertible {
    /// The reason as a clause, for reports.
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
    /// Creates the reason for refusing a document, from the error that the document causes; `nil` if the error has
    /// another cause.
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
    /// Returns the document without the top-level fields that have the given names.
    func without(_ names: [String]) throws(BSONError) -> BSONDocument {
        var document = self
        for name in names where document[name] != nil { document = try document.removing(name) }
        return document
    }

    /// Returns the names of the fields that are not the same in both documents; `_id` is not compared.
    func differing(from other: BSONDocument) throws(BSONError) -> [String] {
        let (left, right) = (try removing("_id"), try other.removing("_id"))
        if left.hasSameFields(as: right) { return [] }
        var names: [String] = []
        for name in try left.elements().map(\.name) + right.elements().map(\.name) where !names.contains(name) {
            let values = [left[name], right[name]].map { value in value.map { BSONDocument([("", $0)]) } }
            if let one = values[0], let two = values[1], one.hasSameFields(as: two) { continue }
            names.append(name)
        }
        // If all fields have equal values in both documents, the documents differ only in a name that occurs more than
        // once.
        return names.isEmpty ? ["(root)"] : names
    }
}
