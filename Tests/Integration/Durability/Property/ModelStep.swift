import BSON

/// The expected effect of a step on a document, computed without the server and without the engine's own code.
struct ModelStep: Sendable {
    /// The effect of the step on a document.
    enum Finding: Sendable {
        /// The document fits, or the step does not apply to it.
        case nothing
        /// The step turns the document into this one.
        case becomes(BSONDocument)
        /// The document is reported for this reason, and skipped.
        case leftAlone(String)
    }

    /// The step as an entry of the job file.
    let yaml: String
    /// The field that the step writes.
    let target: FieldPath
    /// The field that the step reads as well, if any.
    let source: FieldPath?
    /// Returns the effect on a document in which no name occurs twice.
    ///
    /// `nil` if the model does not know the effect, so that the server computes it.
    let find: (@Sendable (BSONDocument) throws -> Finding)?
    /// Further fields that the step writes.
    var others: [FieldPath] = []

    /// The reasons in the report.
    enum Reason {
        static let notConvertible = "not convertible without loss"
        static let targetDiffers = "target holds another value"
        static let parentNotObject = "parent is not an object"
        static let parentMissing = "parent is missing"
        static let repeatedName = "a field name stands twice, or an array has other keys than 0, 1, 2"
    }

    /// Whether two steps touch fields of which one contains the other.
    func overlaps(_ other: ModelStep) -> Bool {
        paths.contains { path in other.paths.contains { path.meets($0) } }
    }

    /// All fields that the step reads and writes.
    var paths: [FieldPath] { [target] + [source].compactMap(\.self) + others }
}

extension ModelStep {
    /// Returns a step that writes its target where it is missing, and else compares.
    static func fills(
        _ target: FieldPath, from source: FieldPath, yaml: String, value: @escaping @Sendable (BSONValue) -> BSONValue?,
        concerns: @escaping @Sendable (BSONValue) -> Bool
    ) -> ModelStep {
        ModelStep(yaml: yaml, target: target, source: source) { document in
            switch document.way(to: source) {
            case .blocked: return .leftAlone(Reason.parentNotObject)
            case .missing: return .nothing
            case .open: break
            }
            guard let old = document.value(at: source), concerns(old) else { return .nothing }
            if let obstacle = document.way(to: target).obstacle { return .leftAlone(obstacle) }
            guard let new = value(old) else { return .leftAlone(Reason.notConvertible) }
            guard let present = document.value(at: target) else {
                return .becomes(try document.setting(target.components, to: new))
            }
            return present.bytes == new.bytes ? .nothing : .leftAlone(Reason.targetDiffers)
        }
    }

    /// Returns a step that changes its target in place.
    static func changes(
        _ target: FieldPath, yaml: String, _ find: @escaping @Sendable (BSONValue?) -> ModelChange
    ) -> ModelStep {
        ModelStep(yaml: yaml, target: target, source: nil) { document in
            if let obstacle = document.way(to: target).obstacle { return .leftAlone(obstacle) }
            return switch find(document.value(at: target)) {
            case .nothing: .nothing
            case .to(let value): .becomes(try document.setting(target.components, to: value))
            case .leftAlone(let reason): .leftAlone(reason)
            }
        }
    }
}

/// The effect of a step on one value.
enum ModelChange {
    case nothing
    case to(BSONValue)
    case leftAlone(String)
}

/// Whether the parents of a path are objects.
enum ModelWay {
    case open, missing, blocked

    /// The reason why a path that is not open cannot be written.
    var obstacle: String? {
        switch self {
        case .open: nil
        case .missing: ModelStep.Reason.parentMissing
        case .blocked: ModelStep.Reason.parentNotObject
        }
    }
}

extension BSONDocument {
    /// Checks the parents of a path from the outermost one.
    func way(to path: FieldPath) -> ModelWay {
        var document = self
        for name in path.components.dropLast() {
            switch document[name] {
            case .object(let inner)?: document = inner
            case nil, .null?, .undefined?: return .missing
            default: return .blocked
            }
        }
        return .open
    }
}

extension FieldPath {
    /// Whether one of the two leads to the other.
    func meets(_ other: FieldPath) -> Bool { zip(components, other.components).allSatisfy { $0 == $1 } }
}
