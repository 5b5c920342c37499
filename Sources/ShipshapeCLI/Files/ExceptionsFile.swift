internal import BSON
internal import Checking
internal import LocatedYAML
internal import ServerSchema

/// Reads the file of findings that the operator has accepted.
enum ExceptionsFile {
    /// The file that is read if it exists and the operator names no other.
    static let standardName = "shipshape.exceptions.yml"

    /// The keys of an exception in the file.
    private static let keys = ["collection", "path", "rule", "reason", "owner", "expires"]

    /// Reads the file at `path`.
    /// - Parameter schemas: the schemas of the check; each exception must name a rule that exists and a path of the
    ///   schema.
    /// - Throws: ``LocatedError`` with line and column for anything that does not match the format.
    static func read(at path: String, for schemas: [CompiledSchema]) throws(LocatedError) -> [FindingException] {
        try parse(try YAMLFile.text(at: path), path: path, for: schemas)
    }

    /// Reads the file's text; `path` is for messages.
    static func parse(
        _ text: String, path: String, for schemas: [CompiledSchema]
    ) throws(LocatedError) -> [FindingException] {
        guard let root = try YAMLFile.rootIfAny(of: text, path: path), !root.isEmptyList else { return [] }
        var exceptions: [FindingException] = []
        for node in try root.elements(of: "the file of exceptions") {
            let exception = try entry(node, for: schemas)
            let twin = exceptions.first { $0.isFor(the: exception) }
            if let twin { throw node.error("line \(twin.location.line) already accepts this finding") }
            exceptions.append(exception)
        }
        return exceptions
    }

    private static func entry(
        _ node: YAMLNode, for schemas: [CompiledSchema]
    ) throws(LocatedError) -> FindingException {
        let members = try node.members(of: "an exception", allowed: keys)
        let namespace = try collection(members)
        let rule = try rule(try members.required("rule"))
        let pathNode = try members.required("path")
        // Job files may write `pets.[].toy` for `pets[].toy`, so this file may, too.
        let path = try pathNode.text(of: "\"path\"").replacing(".[]", with: "[]")
        if let schema = schemas.first(where: { $0.namespace == namespace }), !schema.canReport(rule, at: path) {
            let hint = Spelling.hint(forPath: path, among: schema.placeNames).map { " (\($0))" } ?? ""
            throw pathNode.error("the schema of \(namespace) has no \"\(path)\"\(hint)")
        }
        return FindingException(
            namespace: namespace, path: path, rule: rule,
            reason: try members.required("reason").text(of: "\"reason\""),
            owner: try members.required("owner").text(of: "\"owner\""), expires: try day(members["expires"]),
            location: node.location)
    }

    /// Reads the collection that an entry is for.
    static func collection(_ members: YAMLMembers) throws(LocatedError) -> Namespace {
        let node = try members.required("collection")
        guard let namespace = Namespace(try node.text(of: "\"collection\"")) else {
            throw node.error("\"collection\" must be DATABASE.COLLECTION")
        }
        return namespace
    }

    /// Reads the code of a rule.
    static func rule(_ node: YAMLNode) throws(LocatedError) -> RuleCode {
        let rule = RuleCode(rawValue: try node.text(of: "\"rule\""))
        guard RuleCode.known.contains(rule) else {
            let hint = Spelling.hint(for: rule.rawValue, among: RuleCode.known.map(\.rawValue)).map { " (\($0))" } ?? ""
            throw node.error("there is no rule \"\(rule)\"\(hint)")
        }
        return rule
    }

    /// Reads a date such as `2027-01-31`; `nil` without a date.
    private static func day(_ node: YAMLNode?) throws(LocatedError) -> String? {
        guard let node else { return nil }
        let text = try node.text(of: "\"expires\"")
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy(isDigit) }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]), (1...12).contains(month),
            day >= 1, day <= days(of: month, in: year)
        else { throw node.error("\"expires\" must be a day such as 2027-01-31") }
        return text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension FindingException {
    /// Whether both exceptions accept the same findings.
    fileprivate func isFor(the other: FindingException) -> Bool {
        namespace == other.namespace && path == other.path && rule == other.rule
    }
}
