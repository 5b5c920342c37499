package import BSON
package import Mongo

/// How a collection judges what is written to it: its validator, and the settings beside it.
package struct Validation: Sendable {
    /// The validator; empty where there is none.
    package var validator: BSONDocument
    /// `validationLevel`: which writes are judged, such as "strict".
    package var level: String
    /// `validationAction`: what is done to a write that does not fit, such as "error".
    package var action: String
    /// Whether the collection is prepared for the level "constraint", which MongoDB 9.0 has.
    package var isPrepared: Bool

    /// Joins the parts; what is left out is as it is for a collection that says nothing of it.
    package init(
        _ validator: BSONDocument = [:], level: String = "strict", action: String = "error", isPrepared: Bool = false
    ) {
        (self.validator, self.level, self.action, self.isPrepared) = (validator, level, action, isPrepared)
    }

    /// Whether the server refuses a write that does not fit, rather than to take or to log it.
    package var refuses: Bool { !validator.isEmpty && level != "off" && action != "warn" }

    /// Whether another one says the same; the order of fields says nothing.
    package func isSame(as other: Validation) -> Bool {
        level == other.level && action == other.action && isPrepared == other.isPrepared
            && validator.hasSameFields(as: other.validator)
    }
}

extension CollectionInfo {
    /// How the collection judges what is written to it.
    package var validation: Validation {
        Validation(
            validator ?? [:], level: options["validationLevel"]?.text ?? "strict",
            action: options["validationAction"]?.text ?? "error",
            isPrepared: options["prepareConstraintValidationLevel"]?.isTrue ?? false)
    }
}
