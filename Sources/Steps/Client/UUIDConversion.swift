import BSON
import Jobs
import ServerSchema

/// Runs a ``ConvertUUIDStep`` on the client.
struct UUIDConversion: ClientTransform {
    let step: ConvertUUIDStep

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        try documents.map { document in
            guard let value = try document.value(at: step.field.local), ![.null, .undefined].contains(value.type) else {
                return .nothing
            }
            if let only = step.only, value.type.description != only { return .nothing }
            guard let converted = converted(value) else { return .leave(reason(for: value)) }
            if let present = try document.value(at: step.target.local) {
                if present.hasSameBytes(as: converted) { return .nothing }
                if step.into != nil { return .leave(.targetDiffers) }
            }
            return try .change(document, [(step.target, converted)])
        }
    }

    private func converted(_ value: BSONValue) -> BSONValue? {
        switch (value, step.type) {
        case (.string(let text), .uuid):
            guard let bytes = UUIDText.bytes(of: text), step.allowsLoss || UUIDText.canonical(bytes) == text else {
                return .none
            }
            return .binary(subtype: 4, bytes: bytes)
        case (.string, _): return value
        case (.binary(4, let bytes), _) where bytes.count == 16: return written(bytes)
        // Some drivers stored UUIDs with the generic subtype 0. The subtype does not show that a value is a UUID, so
        // such values are converted only to UUIDs, and not to strings.
        case (.binary(0, let bytes), .uuid) where bytes.count == 16: return written(bytes)
        case (.binary(3, let bytes), _) where bytes.count == 16: return step.legacy.map { written($0.standard(bytes)) }
        default: return .none
        }
    }

    /// Returns the reason why a value is not converted.
    private func reason(for value: BSONValue) -> CompiledStep.Reason {
        switch value {
        case .string(let text) where UUIDText.bytes(of: text) != nil: .rounded
        case .binary(3, let bytes) where bytes.count == 16: .ambiguous
        default: .noValue
        }
    }

    private func written(_ bytes: [UInt8]) -> BSONValue {
        step.type == .uuid ? .binary(subtype: 4, bytes: bytes) : .string(UUIDText.canonical(bytes))
    }
}

/// Computes, on the client, the ids that a ``GenerateStep`` sets.
struct GeneratedDefault: ClientTransform {
    let step: GenerateStep

    var readsID: Bool { true }

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        try documents.map { document in
            let present = try document.value(at: step.field.local)
            guard present == nil || step.nullsToo && [.null, .undefined].contains(present?.type) else {
                return .nothing
            }
            let id = GeneratedID(job: context.job, place: step.field.description, of: document["_id"] ?? .null)
            let outcome = try ClientOutcome.change(
                document, [(step.field, step.type == .uuid ? id.uuid : id.objectID)])
            return outcome == .change(to: document) ? .nothing : outcome
        }
    }
}
