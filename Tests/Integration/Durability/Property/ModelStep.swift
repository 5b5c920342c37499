import BSON

/// A random step, with its expected effect on a document.
///
/// The model computes the effect without the server and without the program's code.
struct ModelStep: Sendable {
    /// The effect of the step on a document.
    enum Finding: Sendable {
        /// The step changes nothing and reports nothing.
        case nothing
        /// The step changes the document into this one.
        case becomes(BSONDocument)
        /// The step skips the document, and the report gives this reason.
        case skipped(String)
    }

    /// The step as it is written in the job file.
    let yaml: String
    /// The field that the step writes.
    let target: FieldPath
    /// The field that the step reads besides its target; `nil` if there is none.
    let source: FieldPath?
    /// A function that returns the effect of the step on a document in which no field name occurs twice.
    ///
    /// `nil` if the model does not know the effect, so that the test asks the server for it.
    let find: (@Sendable (BSONDocument) throws -> Finding)?
    /// The fields that the step reads or writes besides ``target`` and ``source``.
    var others: [FieldPath] = []

    /// The reasons to skip a document, as a run's report names them.
    enum Reason {
        static let targetDiffers = "target holds another value"
        static let parentNotObject = "parent is not an object"
        static let parentMissing = "parent is missing"
        static let repeatedName = "a field name stands twice, or an array has other keys than 0, 1, 2"
    }

    /// Whether a field of one step is the same as a field of the other step, or is inside or around it.
    func overlaps(_ other: ModelStep) -> Bool {
        paths.contains { path in other.paths.contains { path.meets($0) } }
    }

    /// All fields that the step reads or writes.
    var paths: [FieldPath] { [target] + [source].compactMap(\.self) + others }
}

extension ModelStep {
    /// Returns a step that computes a value from the source field and writes it into a target field that is missing.
    ///
    /// If the target has another value, the step skips the document.
    ///
    /// - Parameters:
    ///   - value: returns the value for the target, or the reason why the source's value cannot be converted.
    ///   - applies: whether the step applies to a value of the source.
    static func fills(
        _ target: FieldPath, from source: FieldPath, yaml: String,
        value: @escaping @Sendable (BSONValue) -> ModelChange,
        applies: @escaping @Sendable (BSONValue) -> Bool
    ) -> ModelStep {
        ModelStep(yaml: yaml, target: target, source: source) { document in
            switch document.way(to: source) {
            case .blocked: return .skipped(Reason.parentNotObject)
            case .missing: return .nothing
            case .open: break
            }
            guard let old = document.value(at: source), applies(old) else { return .nothing }
            if let obstacle = document.way(to: target).obstacle { return .skipped(obstacle) }
            switch value(old) {
            case .nothing: return .nothing
            case .skipped(let reason): return .skipped(reason)
            case .to(let new):
                guard let present = document.value(at: target) else {
                    return .becomes(try document.setting(target.components, to: new))
                }
                return present.bytes == new.bytes ? .nothing : .skipped(Reason.targetDiffers)
            }
        }
    }

    /// Returns a step that changes the value of its target field, or adds the field.
    ///
    /// - Parameter find: returns the effect on a value of the target field; the value is `nil` if the field is missing.
    static func changes(
        _ target: FieldPath, yaml: String, _ find: @escaping @Sendable (BSONValue?) -> ModelChange
    ) -> ModelStep {
        ModelStep(yaml: yaml, target: target, source: nil) { document in
            if let obstacle = document.way(to: target).obstacle { return .skipped(obstacle) }
            return switch find(document.value(at: target)) {
            case .nothing: .nothing
            case .to(let value): .becomes(try document.setting(target.components, to: value))
            case .skipped(let reason): .skipped(reason)
            }
        }
    }
}

/// The effect of a step on the value of one field.
enum ModelChange {
    case nothing
    case to(BSONValue)
    case skipped(String)
}

/// The state of the objects around a field.
///
/// The case is `open` if all parents of the field are objects. It is `missing` if a parent is missing, null or
/// undefined, and `blocked` if a parent is any other value that is not an object.
enum ModelWay {
    case open, missing, blocked

    /// The reason why a step cannot write the field; `nil` if all parents of the field are objects.
    var obstacle: String? {
        switch self {
        case .open: nil
        case .missing: ModelStep.Reason.parentMissing
        case .blocked: ModelStep.Reason.parentNotObject
        }
    }
}

extension BSONDocument {
    /// Returns the case of ``ModelWay`` for the parents of the field at a path.
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
    /// Whether the paths are equal, or one of them is the beginning of the other.
    func meets(_ other: FieldPath) -> Bool { zip(components, other.components).allSatisfy { $0 == $1 } }
}
