package import BSON

/// What a step does that the server's operators cannot express: the client computes it, document by document.
///
/// The step says what is computed, and which documents the server hands over for it; how it is computed is the engine's
/// to know, as it may take looks at other collections.
package protocol ClientComputation: Sendable {
    /// Why documents are left alone, as far as only the client can tell.
    var reasons: [CompiledStep.Reason] { get }

    /// The collection that the step makes documents in; `nil` where it makes none.
    var creates: Namespace? { get }
}

extension ClientComputation {
    package var reasons: [CompiledStep.Reason] { [] }
    package var creates: Namespace? { nil }
}

/// A document that a step makes in another collection.
package struct ClientCreation: Hashable, Sendable {
    /// The other collection.
    package var namespace: Namespace
    /// The document, with its `_id`.
    package var document: BSONDocument

    /// Joins the two.
    package init(namespace: Namespace, document: BSONDocument) {
        (self.namespace, self.document) = (namespace, document)
    }
}
