package import BSON
package import Mongo

/// The validator of a collection, and the settings that decide how the server applies it.
package struct Validation: Sendable {
    /// The collection's validator; empty if there is none.
    package var validator: BSONDocument
    /// `validationLevel`: which writes are validated, such as "strict".
    package var level: String
    /// `validationAction`: the server's reaction to a write that does not fit the validator, such as "error".
    package var action: String
    /// Whether the collection is prepared for the validation level "constraint" of MongoDB 9.0, by
    /// `prepareConstraintValidationLevel`.
    package var isPrepared: Bool

    package init(
        _ validator: BSONDocument = [:], level: String = "strict", action: String = "error", isPrepared: Bool = false
    ) {
        (self.validator, self.level, self.action, self.isPrepared) = (validator, level, action, isPrepared)
    }

    /// Whether the server refuses writes that do not fit the validator, instead of accepting or logging them.
    ///
    /// At the level `moderate`, the server still accepts updates of documents that did not fit before.
    package var refuses: Bool { !validator.isEmpty && level != "off" && action != "warn" }

    /// Whether this validation and `other` are equal; the order of the validators' fields does not matter.
    package func isSame(as other: Validation) -> Bool {
        level == other.level && action == other.action && isPrepared == other.isPrepared
            && validator.hasSameFields(as: other.validator)
    }
}

extension CollectionInfo {
    /// The collection's validator and validation settings.
    package var validation: Validation {
        Validation(
            validator ?? [:], level: options["validationLevel"]?.text ?? "strict",
            action: options["validationAction"]?.text ?? "error",
            isPrepared: options["prepareConstraintValidationLevel"]?.isTrue ?? false)
    }
}
