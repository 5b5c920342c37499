package import BSON
package import Evaluating
import Jobs
package import Mongo

/// Evaluates a server-side phase on whole documents in the client, with the same result as the server's update.
package struct PhaseEvaluator: Sendable {
    /// The compiled steps that one update runs together.
    private struct Part: Sendable {
        let needs: CompiledExpression
        let update: CompiledUpdate
    }

    /// The fields that the phase's expressions read.
    private var group: SharedFields
    private let needs: CompiledExpression
    private let parts: [Part]
    private let touched: [Touched]
    private let names: [String]
    /// Whether the change of the touched fields can be computed without the document's other fields.
    private let changesOnlyTouched: Bool

    /// A top-level field that the phase may write or remove.
    private struct Touched: Sendable {
        let name: String
        /// The index of the field in ``group``; `nil` if the group has no room for it.
        let index: Int?
        /// The index of the field among the fields that the update sets.
        ///
        /// `nil` if the update does not set the field, or if the phase needs several updates or an update of several
        /// stages.
        let set: Int?
    }

    /// The largest size in bytes of a document that the server stores.
    private static let largest = 16 << 20
    /// The size in bytes that the touched fields of a document seldom exceed.
    private static let usual = 96
    /// The most documents with which the evaluator tests whether the client can evaluate the phase.
    private static let sample = 200
    /// The most documents among which the evaluator searches for the sample.
    private static let searched = 2_000

    /// Compiles a phase for the documents of a scope; returns `nil` if the server has to evaluate the documents.
    ///
    /// The server has to evaluate them if ``Phase/isLeftToServer`` is true, if a step is client-side, if the collection
    /// has a collation, or if the server answers so slowly that reading whole documents takes too long. It also has to
    /// evaluate them if the client cannot evaluate a step's update, or if more than 20 % of the first documents cannot
    /// be evaluated by the client.
    package init?(_ phase: Phase, for scope: ReadScope, in collection: MongoCollection) throws(MongoError) {
        guard !phase.isLeftToServer, let evaluator = PhaseEvaluator(phase), try collection.suitsEvaluationByClient
        else { return nil }
        var stages = scope.stages(quick: phase.steps.quickNeed) + [["$limit": .integer(Self.sample)]]
        // The search for a sample is limited, because it would read the whole collection if few documents need the
        // phase.
        if case .collection = scope { stages.insert(["$limit": .integer(Self.searched)], at: 0) }
        let few = collection.aggregate(stages, options: scope.options("find"))
        guard try evaluator.evaluatesMost(of: few) else { return nil }
        self = evaluator
    }

    /// Compiles a phase; `nil` if a step is client-side, or if the client cannot evaluate the stages of an update.
    package init?(_ phase: Phase) {
        guard phase.isServerSide else { return nil }
        var group = SharedFields()
        needs = CompiledExpression(phase.needs, in: &group)
        var parts: [Part] = []
        for range in phase.parts {
            let steps = Array(phase.steps[range])
            let needs = CompiledExpression(steps.need, in: &group)
            guard let update = CompiledUpdate(steps.updateOfNeeding, in: &group) else { return nil }
            parts.append(Part(needs: needs, update: update))
        }
        self.parts = parts
        let written = parts.count == 1 && parts[0].update.isOneStage ? parts[0].update.names : nil
        changesOnlyTouched = written.map { Set($0).isSubset(of: phase.touched) } ?? false
        names = phase.touched
        touched = phase.touched.map { name in
            let set = written?.firstIndex { $0.utf8.elementsEqual(name.utf8) }
            return Touched(name: name, index: group.index(of: name), set: set)
        }
        self.group = group
    }

    /// Adds a field to those that ``isNeeded(by:in:)`` finds, and returns its index in ``Frame/fields``; `nil` if there
    /// is no room for another field.
    package mutating func locate(_ name: String) -> Int? { group.index(of: name) }

    package func frame() -> Frame { group.frame() }

    /// Whether a document needs the phase; stores the positions of the document's fields in `frame`.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    package func isNeeded(by document: borrowing BSONView, in frame: inout Frame) throws(NotEvaluated) -> Bool {
        try frame.locate(group, in: document)
        return try needs.holds(for: document, in: &frame)
    }

    /// Returns the values that a document's touched fields have before and after the phase.
    ///
    /// The fields are in the order of ``Phase/touched``; missing fields are left out.
    /// - Parameter frame: the frame that has the document's fields, and still has them afterwards.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    package func touchedChange(
        of document: borrowing BSONView, in frame: inout Frame
    ) throws(NotEvaluated) -> (before: BSONDocument, after: BSONDocument) {
        guard changesOnlyTouched else {
            let after = try change(of: document, in: &frame).after
            try after.view.checkArrays(in: names)
            return (try touchedFields(of: document), try touchedFields(of: after.view))
        }
        var before = BSONBuilder(capacity: Self.usual)
        var after = BSONBuilder(capacity: Self.usual)
        for field in touched {
            let element = if let index = field.index { frame.fields[index] } else { try document.field(field.name) }
            if let element {
                try document.checkArray(element)
                before.append(element, of: document)
            }
            if let set = field.set {
                try parts[0].update.appendValue(of: set, for: document, in: &frame, to: &after)
            } else if let element {
                after.append(element, of: document)
            }
        }
        let change = (before: before.finish(), after: after.finish())
        guard document.byteCount - change.before.bytes.count + change.after.bytes.count <= Self.largest else {
            throw NotEvaluated(.failure)
        }
        try change.after.view.checkArrays(in: names)
        return change
    }

    private func touchedFields(of document: borrowing BSONView) throws(NotEvaluated) -> BSONDocument {
        var builder = BSONBuilder()
        for field in touched {
            if let element = try document.field(field.name) { builder.append(element, of: document) }
        }
        return builder.finish()
    }

    /// Returns a document after the phase, and the number of ``Phase/parts`` that change it.
    ///
    /// The document must need the phase, and its fields must be in `frame`, where they still are afterwards. The caller
    /// must check the arrays of the changed document.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    private func change(
        of document: borrowing BSONView, in frame: inout Frame
    ) throws(NotEvaluated) -> (after: BSONDocument, parts: Int) {
        try checkArrays(of: document, in: frame)
        // If the phase has only one part, the document needs that part, because it needs the phase.
        guard parts.count > 1 else { return (try applied(0, to: document, &frame), 1) }
        var after = BSONDocument(copying: document)
        var (count, later) = (0, frame)
        for part in parts.indices {
            try later.locate(group, in: after.view)
            guard try parts[part].needs.holds(for: after.view, in: &later) else { continue }
            after = try applied(part, to: after.view, &later)
            count += 1
        }
        return (after, count)
    }

    /// Throws if the touched fields have arrays that the server may renumber; `frame` must have the document's fields.
    private func checkArrays(of document: borrowing BSONView, in frame: Frame) throws(NotEvaluated) {
        for field in touched.indices {
            let element =
                if let index = touched[field].index { frame.fields[index] } else {
                    try document.field(touched[field].name)
                }
            if let element { try document.checkArray(element) }
        }
    }

    private func applied(
        _ part: Int, to document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> BSONDocument {
        let after = try parts[part].update.applied(to: document, in: &frame)
        guard after.bytes.count <= Self.largest else { throw NotEvaluated(.failure) }
        return after
    }

    /// Whether the client can evaluate at least 80 % of the sample documents.
    ///
    /// A document that the client cannot evaluate is read again by its `_id`, and the server evaluates it. If there are
    /// many such documents, it is cheaper to let the server evaluate all documents.
    private func evaluatesMost(of documents: consuming Cursor) throws(MongoError) -> Bool {
        var (known, unknown) = (0, 0)
        var frame = frame()
        while let view = try documents.next() {
            do throws(NotEvaluated) {
                _ = try outcome(of: view, in: &frame)
                known += 1
            } catch { unknown += 1 }
        }
        return unknown * 4 <= known
    }

    /// Returns a document before and after the phase; `nil` if the document does not need the phase.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    package func outcome(
        of document: borrowing BSONView, in frame: inout Frame
    ) throws(NotEvaluated) -> Preview.Outcome? {
        guard try isNeeded(by: document, in: &frame) else { return nil }
        let change = try change(ofNeeding: document, in: &frame)
        return Preview.Outcome(before: BSONDocument(copying: document), change: change)
    }

    /// Returns the change of a document that is known to need the phase, and whose fields `frame` has.
    ///
    /// Afterwards, `frame` has the fields of the changed document.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    package func change(
        ofNeeding document: borrowing BSONView, in frame: inout Frame
    ) throws(NotEvaluated) -> Preview.Change {
        let (after, parts) = try change(of: document, in: &frame)
        let isOpen = try isNeeded(by: after.view, in: &frame)
        try checkArrays(of: after.view, in: frame)
        return Preview.Change(after: after, isOpen: isOpen, parts: parts)
    }

    /// Returns the finder of a job's steps; `nil` if the client cannot evaluate them.
    ///
    /// When the finder has examined a document, its frame has the fields that ``change(ofNeeding:in:)`` reads.
    package func finder(of job: CompiledJob) -> StepFinder? { job.finder(in: group) }
}

extension BSONView {
    /// Throws if the keys of an array are not 0, 1, 2 and so on, because the server may renumber such keys.
    ///
    /// The function checks arrays in the top-level fields with these names, and the arrays directly inside these.
    func checkArrays(in names: [String]) throws(NotEvaluated) {
        for name in names {
            if let element = try field(name) { try checkArray(element) }
        }
    }

    fileprivate func checkArray(_ element: BSONElement) throws(NotEvaluated) {
        guard element.type == .array else { return }
        do throws(BSONError) {
            if try document(element).hasOddKeys() { throw BSONError(.invalidLength, at: element.nameOffset) }
        } catch { throw NotEvaluated(.damage) }
    }

    fileprivate func field(_ name: String) throws(NotEvaluated) -> BSONElement? {
        do throws(BSONError) { return try find(name) } catch { throw NotEvaluated(.damage) }
    }
}
