package import BSON
package import JobState

/// How far a validator is on its way to being enforced.
package enum EnforcementStage: String, Sendable, CaseIterable, Comparable {
    /// The collection is as it was.
    case before
    /// The validator is there, and what does not fit is written to the server's log alone.
    case warn
    /// What does not fit is refused.
    case error
    /// Nothing goes around the validator any more, and it cannot be changed: what "constraint" asks for first.
    case prepared
    /// The server itself vouches for every document.
    case constraint

    /// The later one is greater.
    package static func < (left: EnforcementStage, right: EnforcementStage) -> Bool { left.place < right.place }

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The one that comes next.
    package var next: EnforcementStage? {
        Self.allCases.dropFirst(place + 1).first
    }

    /// The one that comes right before it.
    package var previous: EnforcementStage? { place == 0 ? nil : Self.allCases[place - 1] }
}

/// The road of one collection, from what was there before to a validator that holds.
///
/// It says what the collection looks like at each stage, and which command leads to the next: who reads the collection
/// knows from that alone how far it is.
package struct EnforcementRoad: Sendable {
    package let namespace: Namespace
    /// The validator that is to hold.
    package let validator: BSONDocument
    /// What was there before.
    package let before: Validation

    /// Joins the parts.
    package init(_ namespace: Namespace, to validator: BSONDocument, from before: Validation) {
        (self.namespace, self.validator, self.before) = (namespace, validator, before)
    }

    /// What the collection looks like at a stage.
    package func validation(at stage: EnforcementStage) -> Validation {
        switch stage {
        case .before: before
        case .warn: Validation(validator, action: "warn")
        case .error: Validation(validator)
        case .prepared: Validation(validator, isPrepared: true)
        case .constraint: Validation(validator, level: "constraint")
        }
    }

    /// The stage at which a collection looks so, the latest where several do; `nil` at none.
    package func stage(of validation: Validation) -> EnforcementStage? {
        EnforcementStage.allCases.last { self.validation(at: $0).isSame(as: validation) }
    }

    /// The command that leads to a stage from the one before it; `nil` for the beginning.
    ///
    /// Each names only what it changes: what somebody else changed meanwhile is then seen by who reads it back.
    package func command(to stage: EnforcementStage) -> BSONDocument? {
        let head: BSONDocument = ["collMod": .string(namespace.collection)]
        switch stage {
        case .before: return nil
        case .warn:
            return head.appending("validator", .object(validator)).appending("validationLevel", "strict")
                .appending("validationAction", "warn")
        case .error: return head.appending("validationAction", "error")
        case .prepared: return head.appending("prepareConstraintValidationLevel", true)
        case .constraint:
            return head.appending("validationLevel", "constraint").appending("validationAction", "error")
        }
    }

    /// The command that leads back towards the beginning; `nil` where that is reached.
    ///
    /// MongoDB lets no rule be changed while a collection is prepared or at "constraint": that is taken off first.
    package func commandBack(from validation: Validation) -> BSONDocument? {
        let head: BSONDocument = ["collMod": .string(namespace.collection)]
        if validation.isSame(as: before) { return nil }
        if validation.isPrepared { return head.appending("prepareConstraintValidationLevel", false) }
        if validation.level == "constraint" { return head.appending("validationLevel", "strict") }
        return head.appending("validator", .object(before.validator)).appending(
            "validationLevel", .string(before.level)
        )
        .appending("validationAction", .string(before.action))
    }
}
