import BSON
import Proving

/// Steps that remove or copy fields.
extension ModelStep {
    static func unset(_ field: FieldPath, nullsAlone: Bool) -> ModelStep {
        let yaml = "unset: {field: \(field), when: \(nullsAlone ? "null" : "present")}"
        return ModelStep(yaml: yaml, target: field, source: nil) { document in
            guard document.way(to: field) == .open, let value = document.value(at: field) else { return .nothing }
            guard !nullsAlone || value == .null || value == .undefined else { return .nothing }
            return .becomes(try document.removing(field.components))
        }
    }

    /// Returns a step that copies the field at `from` to the field at `to`.
    ///
    /// If `to` already has a different value, the step replaces it if `replaces` is true. Otherwise, the step skips the
    /// document.
    static func copy(_ from: FieldPath, to: FieldPath, replaces: Bool) -> ModelStep {
        let yaml = "copy: {from: \(from), to: \(to), whenPresent: \(replaces ? "replace" : "keep")}"
        return ModelStep(yaml: yaml, target: to, source: from) { document in
            switch document.way(to: from) {
            case .blocked: return .skipped(Reason.parentNotObject)
            case .missing: return .nothing
            case .open: break
            }
            guard let value = document.value(at: from) else { return .nothing }
            if let obstacle = document.way(to: to).obstacle { return .skipped(obstacle) }
            if let present = document.value(at: to) {
                if present.bytes == value.bytes { return .nothing }
                if !replaces { return .skipped("target keeps its value") }
            }
            return .becomes(try document.setting(to.components, to: value))
        }
    }
}

extension BSONDocument {
    /// Returns the document without the field at a path; unchanged if a parent of the field is not an object.
    func removing(_ path: some Collection<String>) throws -> BSONDocument {
        guard let name = path.first else { return self }
        guard path.count > 1 else { return try removing(name) }
        guard case .object(let inner)? = self[name] else { return self }
        return try replacing(name, with: .object(try inner.removing(path.dropFirst())))
    }
}
