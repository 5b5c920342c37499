package import BSON
package import Checking
package import LocatedYAML
import Reporting
package import SchemaChange
package import ServerSchema

/// The findings of `check` and the changes of `diff` that the operator has accepted.
package struct AcceptedFindings {
    package var findings: [FindingException] = []
    package var changes: [AcceptedChange] = []

    package var count: Int { findings.count + changes.count }
}

/// Reads the file of findings that the operator has accepted.
package enum ExceptionsFile {
    /// The file that is read if it exists and the operator names no other.
    package static let standardName = "shipshape.exceptions.yml"

    private static let keys = ["collection", "path", "rule", "fingerprint", "reason", "owner", "expires"]

    /// The codes of schema changes; no rule for documents has one of these codes.
    private static let changeCodes = Explanation.all.filter { $0.section == .changes }.map(\.code)

    /// Reads the file at `path`.
    /// - Parameter schemas: the schemas of the check. If one of them is for the collection of an exception, the
    ///   exception must name a path of that schema.
    /// - Throws: ``LocatedError`` with line and column for anything that does not match the format.
    package static func read(at path: String, for schemas: [CompiledSchema] = []) throws(LocatedError)
        -> AcceptedFindings
    {
        try parse(try YAMLFile.text(at: path), path: path, for: schemas)
    }

    /// Reads the file's text; `path` is for messages.
    package static func parse(
        _ text: String, path: String, for schemas: [CompiledSchema] = []
    ) throws(LocatedError) -> AcceptedFindings {
        guard let root = try YAMLFile.rootIfAny(of: text, path: path), !root.isEmptyList else {
            return AcceptedFindings()
        }
        var accepted = AcceptedFindings()
        var lines: [AcceptedKey: Int] = [:]
        for node in try root.elements(of: "the file of exceptions") {
            let key = try add(node, to: &accepted, for: schemas)
            if let line = lines[key] { throw node.error("line \(line) already accepts this finding") }
            lines[key] = node.location.line
        }
        return accepted
    }

    /// Adds the exception or the accepted schema change that an entry of the file describes.
    /// - Returns: the finding that the entry accepts.
    private static func add(
        _ node: YAMLNode, to accepted: inout AcceptedFindings, for schemas: [CompiledSchema]
    ) throws(LocatedError) -> AcceptedKey {
        let members = try node.members(of: "an exception", allowed: keys)
        let ruleNode = try members.required("rule")
        let pathNode = try members.required("path")
        // Job files may write `pets.[].toy` instead of `pets[].toy`, so the file of exceptions may, too.
        let path = try pathNode.text(of: "\"path\"").replacing(".[]", with: "[]")
        let acceptance = Acceptance(
            fingerprint: try members["fingerprint"].map(fingerprint),
            reason: try members.required("reason").text(of: "\"reason\""),
            owner: try members.required("owner").text(of: "\"owner\""), expires: try day(members["expires"]),
            location: node.location)
        let code = try ruleNode.text(of: "\"rule\"")
        if changeCodes.contains(code) {
            // A change of the whole app has no collection.
            let namespace = members["collection"] == nil ? nil : try collection(members)
            let change = AcceptedChange(
                namespace: namespace, path: path, code: SchemaChange.Code(rawValue: code), acceptance: acceptance)
            accepted.changes.append(change)
            return AcceptedKey(change)
        }
        let (namespace, rule) = (try collection(members), try rule(ruleNode, among: changeCodes))
        if let schema = schemas.first(where: { $0.namespace == namespace }), !schema.canReport(rule, at: path) {
            let hint = Spelling.hint(forPath: path, among: schema.placeNames).map { " (\($0))" } ?? ""
            throw pathNode.error("the schema of \(namespace) has no \"\(path)\"\(hint)")
        }
        let finding = FindingException(namespace: namespace, path: path, rule: rule, acceptance: acceptance)
        accepted.findings.append(finding)
        return AcceptedKey(finding)
    }

    private static func fingerprint(_ node: YAMLNode) throws(LocatedError) -> Fingerprint {
        guard let fingerprint = Fingerprint(try node.text(of: "\"fingerprint\"")) else {
            throw node.error("\"fingerprint\" must be 16 hexadecimal digits, as check --accept writes them")
        }
        return fingerprint
    }

    package static func collection(_ members: YAMLMembers) throws(LocatedError) -> Namespace {
        let node = try members.required("collection")
        guard let namespace = Namespace(try node.text(of: "\"collection\"")) else {
            throw node.error("\"collection\" must be DATABASE.COLLECTION")
        }
        return namespace
    }

    package static func rule(_ node: YAMLNode) throws(LocatedError) -> RuleCode { try rule(node, among: []) }

    /// Reads the code of a rule for documents.
    /// - Parameter others: codes that are not rules for documents. The hint about a misspelt code may name one of them,
    ///   too.
    private static func rule(_ node: YAMLNode, among others: [String]) throws(LocatedError) -> RuleCode {
        let rule = RuleCode(rawValue: try node.text(of: "\"rule\""))
        guard RuleCode.known.contains(rule) else {
            let known = RuleCode.known.map(\.rawValue) + others
            let hint = Spelling.hint(for: rule.rawValue, among: known).map { " (\($0))" } ?? ""
            throw node.error("there is no rule \"\(rule)\"\(hint)")
        }
        return rule
    }

    /// Reads a date such as `2027-01-31`; `nil` without a date.
    private static func day(_ node: YAMLNode?) throws(LocatedError) -> String? {
        guard let node else { return nil }
        let text = try node.text(of: "\"expires\"")
        guard CalendarDay.isDay(text) else { throw node.error("\"expires\" must be a day such as 2027-01-31") }
        return text
    }
}

/// The finding that an entry of the file of exceptions accepts; a file with two entries for one finding is refused.
package struct AcceptedKey: Hashable {
    package let collection: String
    package let path: String
    package let rule: String
    package let fingerprint: Fingerprint?

    package init(_ finding: FindingException) {
        collection = "\(finding.namespace)"
        (path, rule, fingerprint) = (finding.path, finding.rule.rawValue, finding.acceptance.fingerprint)
    }

    package init(_ change: AcceptedChange) {
        collection = change.namespace.map { "\($0)" } ?? ""
        (path, rule, fingerprint) = (change.path, change.code.rawValue, change.acceptance.fingerprint)
    }
}
