extension CompiledStep {
    /// Why a document that the step is about is left alone.
    package enum Reason: String, Sendable, CaseIterable {
        /// The value has no counterpart in the new type, or only with loss.
        case notConvertible = "not convertible without loss"
        /// The target holds another value already.
        case targetDiffers = "target holds another value"
        /// The target holds another value, which the job is to keep.
        case targetKept = "target keeps its value"
        /// Source and target look the same, as far down as they can be compared exactly.
        case tooDeep = "nested too deeply to be compared exactly"
        /// The value is of a type that the step says nothing about.
        case wrongType = "value is of another type"
        /// A part of what is to be combined is not there.
        case partMissing = "a part is missing"
        /// The text has more or fewer parts than fields, or they do not make the text again.
        case notSplittable = "does not split into the fields without loss"
        /// There is not exactly one value to take out.
        case notSingle = "does not hold exactly one value"
        /// The map says nothing about the value.
        case notInMap = "value is not in the map"
        /// A parent of the target, or of the source, is of another type than object.
        case parentNotObject = "parent is not an object"
        /// Something else stands in the place of a list or a dictionary.
        case notContainer = "neither a list nor a dictionary"
        /// A field name stands twice in the document, or in a parent of the target or the source.
        ///
        /// Merging would lose one of the two, mongod 6.0 aborts when it words the difference of such an update, and which
        /// of the two an expression reads is not said.
        case repeatedName = "a field name stands twice"
        /// A parent of the target is missing or null: it is never created.
        case parentMissing = "parent is missing"
        /// The sync translator holds the document locked: it is not written while it is.
        case locked = "locked by the sync translator"

        /// A link leads to a document that is not there.
        case brokenLink = "the linked document is not there"
        /// A document that is to be embedded has no parent: the words are those of the client's own migration.
        case noBacklink = "At least one object does not have a backlink (data would get lost)."
        /// A document that is to be embedded has several parents: the words are those of the client's own migration.
        case multipleBacklinks = "At least one object does have multiple backlinks."
        /// The other collection holds another document under the `_id`.
        case otherDocument = "another document has that _id"
        /// An `_id` that is to be taken from the object is missing, or none that a link can be.
        case noID = "the object has no value that can be an _id"
        /// The object has an `_id`, which the document that it becomes cannot keep beside its own.
        case ownID = "the object has an _id of its own, which would be lost"
        /// The document that the object becomes would not sync, or not be accepted, in its collection.
        case unfitChild = "the object does not fit the schema of the collection that would take it"
        /// A link's value is neither among the old values nor among the new ones.
        case unknownKey = "the lookup does not know the value"
        /// A link's value stands for several new ones.
        case ambiguousKey = "the lookup gives several values"

        /// Whether such a document remains for the operator to see to; a parent that is absent has nothing to fill.
        package var isTrouble: Bool { self != .parentMissing && self != .targetKept }
    }
}
