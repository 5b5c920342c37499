package import BSON
package import JobState

/// The stages in which `enforce` changes a collection's validation, in order.
///
/// The first stage is the validation that the collection has before any change. At the last stage, the server
/// guarantees that every document fits the new validator.
package enum EnforcementStage: String, Sendable, CaseIterable, Comparable {
    /// The collection has the validation that it had before `enforce` changed it.
    case before
    /// The validator is set. The server accepts writes that do not fit, but logs them.
    case warn
    /// The server refuses writes that do not fit the validator.
    case error
    /// No write can bypass the validator, and the validator cannot be changed. MongoDB requires this before the level
    /// "constraint".
    case prepared
    /// The server guarantees that every document fits the validator.
    case constraint

    /// Orders the stages from ``before`` to ``constraint``.
    package static func < (left: EnforcementStage, right: EnforcementStage) -> Bool { left.place < right.place }

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package var next: EnforcementStage? {
        Self.allCases.dropFirst(place + 1).first
    }

    package var previous: EnforcementStage? { place == 0 ? nil : Self.allCases[place - 1] }
}

/// The stages of one collection, from the validation before any change by `enforce` to the enforced validator.
///
/// A path defines the collection's validation at each stage, and the command that leads to the next stage. The
/// validation alone therefore shows the stage that the collection has reached.
package struct EnforcementPath: Sendable {
    /// The collection whose validator is enforced.
    package let namespace: Namespace
    package let validator: BSONDocument
    /// The validation that the collection had before `enforce` changed it.
    package let before: Validation

    package init(_ namespace: Namespace, to validator: BSONDocument, from before: Validation) {
        (self.namespace, self.validator, self.before) = (namespace, validator, before)
    }

    package func validation(at stage: EnforcementStage) -> Validation {
        switch stage {
        case .before: before
        case .warn: Validation(validator, action: "warn")
        case .error: Validation(validator)
        case .prepared: Validation(validator, isPrepared: true)
        case .constraint: Validation(validator, level: "constraint")
        }
    }

    /// Returns the latest stage at which the collection has the given validation; `nil` if there is none.
    package func stage(of validation: Validation) -> EnforcementStage? {
        EnforcementStage.allCases.last { self.validation(at: $0).isSame(as: validation) }
    }

    /// Returns the command that leads to a stage from the previous one; `nil` for the first stage.
    ///
    /// A command sets only some of the validation options. If another client changed one of the other options, the next
    /// read of the collection shows that change.
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

    /// Returns the next command that leads from the given validation back to ``before``; `nil` if the validation is the
    /// same as ``before``.
    ///
    /// MongoDB does not allow a change of the validator at the level "constraint", or while the collection is prepared
    /// for this level. The command then ends the preparation or lowers the level, and later commands restore the
    /// validator.
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
