import ServerSchema

/// Decides for a change of a Prisma schema whether newer and older clients can read each other's documents.
///
/// The verdict for the server says whether the newer client can read the stored documents of older clients. The verdict
/// for clients says whether older clients can read what newer clients write. Both verdicts assume that all documents
/// are as clients write them; only a check reads the documents themselves.
struct PrismaVerdict {
    private let change: SchemaChange

    static func kind(of change: SchemaChange) -> ChangeKind { Self(change: change).kind }

    private var kind: ChangeKind {
        switch change.code {
        case .typeAdded: safe("Check the collection before the deploy, if it holds documents already.")
        case .typeRemoved: safe("Nothing: the documents stay, and only the older client reads them.")
        case .typeRenamed: safe("Nothing in the documents: only programs use the name.")
        case .collectionMoved:
            moved("Rename the collection in the moment of the deploy, or copy its documents before it.")
        case .propertyRenamed: renamed
        case .requiredAdded, .optionalToRequired: filled
        case .defaultRemoved where isRequired(change.new): filled
        case .propertyRemoved, .requiredToOptional: missing
        case .idRemoved: kind(fails: true, failsOld: true, "Do not deploy it: Prisma refuses a model without an @id.")
        case .propertyTypeChanged, .idTypeChanged, .elementTypeChanged, .cardinalityChanged, .constraintTightened,
            .constraintLoosened:
            retyped
        case .optionalAdded:
            safe("Nothing, unless documents already hold a field of that name with another type: check shows it.")
        case .defaultChanged where isRequired(change.new):
            kind(
                fails: false, failsOld: false, losing: true,
                "Documents without the field show the new default then. If they keep the old one, store it before the "
                    + "deploy (shipshape plan).")
        case .defaultAdded, .defaultChanged:
            safe("Nothing: a client reads its constant default where a required field is missing or null.")
        default: safe("Nothing.")
        }
    }

    // MARK: fields that are missing

    /// The kind of a change after which the newer client needs a field that stored documents may lack.
    private var filled: ChangeKind {
        if change.new?.node?.defaultValue != nil {
            return safe("Nothing: the client reads the default where the field is missing or null.")
        }
        return kind(
            fails: true, failsOld: false,
            "Fill the documents before the deploy (shipshape plan), or give the field a constant @default; a function "
                + "such as now() is only for writing.")
    }

    /// The kind of a change after which newer clients do not write a field, or do not always write it.
    private var missing: ChangeKind {
        guard isRequired(change.old), change.old?.node?.defaultValue == nil else { return safe("Nothing.") }
        return kind(
            fails: false, failsOld: true,
            "First deploy a version that does without the field but still writes it: older clients fail on documents "
                + "without it.")
    }

    /// The kind of a change that gives a field another name in the documents.
    ///
    /// Older and newer clients then read and write the field under different names. If the field is required and has no
    /// default, a client fails to read documents that lack the client's own name. Otherwise, the client reads them, but
    /// does not see the value under the other name.
    private var renamed: ChangeKind {
        let fails = isRequired(change.new) && change.new?.node?.defaultValue == nil
        let failsOld = isRequired(change.old) && change.old?.node?.defaultValue == nil
        return ChangeKind(
            change.code, server: .breaking, client: .breaking,
            then: (fails ? [.failedQueries] : []) + (failsOld ? [.failedOldClients] : [])
                + (fails && failsOld ? [] : [.hiddenValues]), Self.source, do: Self.expand)
    }

    private func isRequired(_ side: SchemaChange.Side?) -> Bool { side?.isRequired == true }

    // MARK: values of another type

    private var retyped: ChangeKind {
        guard let old = change.old?.node, let new = change.new?.node else { return safe("Nothing.") }
        let (fails, failsOld) = (!Self.reads(new, what: old), !Self.reads(old, what: new))
        if !fails, !failsOld, Self.isCompared(old, new) {
            return moved(
                "Reading works, but filters and relations compare by the stored type: each client finds only what is "
                    + "stored as its own type. Give the newer schema a field with another name. " + Self.expand)
        }
        let advice =
            switch (fails, failsOld) {
            case _ where (fails || failsOld) && Self.isCompared(old, new), (true, true):
                "Give the newer schema a field with another name. \(Self.expand) Or stop all clients, convert the "
                    + "documents, and start the newer clients."
            case (true, false): "Make the documents fit before the deploy (shipshape plan, shipshape check)."
            case (false, true):
                "First deploy a version that reads the new values but does not write them: older clients fail on them."
            case (false, false) where new.refusesDoubles && !old.refusesDoubles:
                "Check the collection before the deploy: a BigInt does not read doubles, such as the numbers that the "
                    + "shell writes."
            case (false, false): "Nothing: both clients read the values of the other."
            }
        if fails != failsOld, Self.isCompared(old, new) {
            // One client fails on the values of the other, which reads its values, but does not find them.
            return ChangeKind(
                change.code, server: .breaking, client: .breaking,
                then: [fails ? .failedQueries : .failedOldClients, .hiddenValues], Self.source, do: advice)
        }
        return kind(
            fails: fails, failsOld: failsOld, losing: Self.loses(old, new) || Self.loses(new, old), advice)
    }

    private static func reads(_ reader: SchemaNode, what writer: SchemaNode) -> Bool {
        if reader.scalar == .json { return true }
        guard writer.scalar != .json, reader.isList == writer.isList else { return false }
        if let element = reader.inner, let written = writer.inner { return reads(element, what: written) }
        guard reader.scalar != nil, writer.scalar != nil else { return reader.scalar == nil && writer.scalar == nil }
        guard !reader.isPrismaEnum else {
            guard writer.isPrismaEnum else { return false }
            return Set(writer.constraints.allowedValues ?? []).isSubset(of: reader.constraints.allowedValues ?? [])
        }
        return writer.types.allSatisfy(reader.reads)
    }

    /// Whether the reading client changes values of the writing client: an `Int` drops the fraction of a `Float`.
    private static func loses(_ reader: SchemaNode, _ writer: SchemaNode) -> Bool {
        if let element = reader.inner, let written = writer.inner { return loses(element, written) }
        return reader.scalar == .int && writer.scalar == .float
    }

    /// Whether two schemas, or the schemas of their elements, have different types, so that a filter by a value of one
    /// type might not find a stored value of the other type.
    ///
    /// A change among int, long and double does not count, because MongoDB compares these numbers by value.
    private static func isCompared(_ old: SchemaNode, _ new: SchemaNode) -> Bool {
        if let element = old.inner, let next = new.inner { return isCompared(element, next) }
        let numbers: Set<SchemaType> = [.int, .long, .double]
        guard old.scalar != .json, new.scalar != .json else { return false }
        return old.types != new.types && !(numbers.isSuperset(of: old.types) && numbers.isSuperset(of: new.types))
    }

    private static let expand =
        "Expand and contract: deploy a version that has both fields and writes both, fill the new field (shipshape "
        + "plan), deploy the newer schema, and remove the old field once no older client runs."

    // MARK: kinds

    private func safe(_ advice: String) -> ChangeKind { kind(fails: false, failsOld: false, advice) }

    /// Returns the kind of a change after which older and newer clients use different collections for the documents.
    private func moved(_ advice: String) -> ChangeKind {
        ChangeKind(change.code, server: .breaking, client: .breaking, then: [.hiddenValues], Self.source, do: advice)
    }

    private func kind(fails: Bool, failsOld: Bool, losing: Bool = false, _ advice: String) -> ChangeKind {
        var consequences: [ChangeKind.Consequence] = []
        if fails { consequences.append(.failedQueries) }
        if failsOld { consequences.append(.failedOldClients) }
        if losing { consequences.append(.changedValues) }
        return ChangeKind(
            change.code, server: fails ? .breaking : .nonBreaking, client: failsOld ? .breaking : .nonBreaking,
            then: consequences, Self.source, do: advice)
    }

    private static let source = ChangeKind.Source.inferred("what Prisma's query engine for MongoDB reads and writes")
}
