internal import BSON

/// Lint rules that need a live deployment: `datasource-type`, `mongodb-version`, `time-series`, `native-validator`,
/// `unique-conflict`.
enum DeploymentLint {
    static func findings(in context: LintContext, _ facts: DeploymentFacts) -> [LintFinding] {
        let place = SourceLocation(whole: facts.source)
        var findings: [LintFinding] = []
        if facts.kind != .replicaSet {
            findings.append(
                LintFinding(
                    .datasourceType, .error, at: place, "a \(facts.kind.rawValue) cannot sync",
                    remedy: "sync a replica set"))
        }
        let (major, minor) = minimum(context.schema.sync?.mode)
        if facts.version.lexicographicallyPrecedes([major, minor]) {
            let version = facts.version.prefix(3).map(String.init).joined(separator: ".")
            findings.append(
                LintFinding(
                    .mongodbVersion, .error, at: place, "MongoDB \(version) is too old: \(major).\(minor) is needed",
                    remedy: "upgrade it"))
        }
        return findings + context.synced.flatMap { check($0, context, facts) }
    }

    /// Returns the oldest server version that can sync; flexible sync needs a newer version than partition-based sync.
    private static func minimum(_ mode: SyncConfiguration.Mode?) -> (Int, Int) {
        if case .flexible = mode { (5, 0) } else { (4, 4) }
    }

    private static func check(
        _ collection: CollectionSchema, _ context: LintContext, _ facts: DeploymentFacts
    ) -> [LintFinding] {
        guard let known = facts.collections[collection.namespace] else { return [] }
        var findings: [LintFinding] = []
        if known.isTimeSeries, !(context.schema.sync?.isAsymmetric(collection) ?? false) {
            findings.append(
                finding(
                    .timeSeries, .error, collection, "it is a time series, which clients can only write to",
                    remedy: "list its type in asymmetric_tables"))
        }
        findings += known.uniqueIndexes.map { index in
            finding(
                .uniqueConflict, .info, collection,
                "clients do not know the unique index \(index): if two clients write the same value, the server erases "
                    + "the later write",
                remedy: "drop the index, or make sure that clients never write the same value")
        }
        guard let validator = known.validator else { return findings }
        if known.refuses {
            findings.append(
                finding(
                    .nativeValidator, .warning, collection,
                    "its MongoDB validator refuses documents, and Sync writes a document in several parts",
                    remedy: "set validationAction to warn"))
        }
        return findings + ValidatorTrouble.of(validator).map { finding(.nativeValidator, .warning, collection, $0) }
    }

    private static func finding(
        _ code: LintFinding.Code, _ level: LintFinding.Level, _ collection: CollectionSchema, _ message: String,
        remedy: String? = nil
    ) -> LintFinding {
        LintFinding(
            code, level, namespace: collection.namespace, at: collection.root.location, message, remedy: remedy)
    }
}
