import BSON
import Checking

/// What the gate found of one document, and what must still hold of it when it is written.
enum Judgement: Hashable {
    /// It syncs under the active schema as it is and would not as it would be; it is counted before it is written.
    case harmful
    /// The write does it no harm.
    case harmless
    /// The write does it no harm as long as this holds: a user may change the document before it is written.
    case harmlessWhile(Expression)

    /// Judges a document as it is and as it would be.
    ///
    /// What a user does between this and the write must not turn a harmless write into harm that nobody counted. A
    /// document that does not sync before has to be one still: repaired meanwhile, the step might break it again. One that
    /// syncs after has to give the steps the values that were judged, where they write what they read.
    init(_ outcome: Preview.Outcome, of job: CompiledJob, under active: CompiledSchema) throws {
        guard let before = outcome.before else {
            self = .harmless
            return
        }
        if try active.check(outcome.after.view) != .certain {
            let unchanged = try job.copiedPaths.map { path in
                try before.value(at: path).map { Self.unchanged(path, from: $0) }
                    ?? !(path.isReachable && !Expression.field(path).isMissing)
            }
            self = unchanged.isEmpty ? .harmless : .harmlessWhile(.all(unchanged))
        } else if let violation = try active.violations(in: before.view, includingInfo: false).first(where: {
            $0.level == .certain
        }) {
            self = .harmlessWhile(try Self.unchanged(violation.path, in: before))
        } else {
            self = .harmful
        }
    }

    /// Whether what makes a document fail there is as it was.
    private static func unchanged(_ place: FoldedPath, in document: BSONDocument) throws -> Expression {
        var names: [String] = []
        for case .field(let name) in place.steps.prefix(while: { $0 != .elements && $0 != .values }) {
            // A name that no expression reaches: the object that holds it is compared.
            guard !name.isEmpty, !name.contains("."), !name.hasPrefix("$") else { break }
            names.append(name)
        }
        guard let path = try? FieldPath(names.joined(separator: ".")) else {
            return .same(.variable("ROOT"), .constant(.object(document)))
        }
        return try document.value(at: path).map { unchanged(path, from: $0) }
            ?? (path.isReachable && Expression.field(path).isMissing)
    }

    private static func unchanged(_ path: FieldPath, from value: BSONValue) -> Expression {
        let field = Expression.field(path)
        switch value.type {
        // Only the type counts there, so that many documents share a condition.
        case .null, .string, .bool, .date, .objectId: return path.isReachable && field.hasType(value.type.description)
        default: return path.isReachable && .same(field, .constant(value))
        }
    }
}

extension CompiledJob {
    /// The fields whose values go unchanged into others.
    fileprivate var copiedPaths: [FieldPath] {
        steps.compactMap { if case .copy(let from, _) = $0.step { from } else { nil } }
    }
}
