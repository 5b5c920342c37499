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
        let collection = try members.required("collection")
        guard let namespace = Namespace(try collection.text(of: "\"collection\"")) else {
            throw collection.error("\"collection\" must be DATABASE.COLLECTION")
        }
        let ruleNode = try members.required("rule")
        let rule = RuleCode(rawValue: try ruleNode.text(of: "\"rule\""))
        guard RuleCode.known.contains(rule) else {
            throw ruleNode.error("there is no rule \"\(rule)\"" + hint(rule.rawValue, RuleCode.known.map(\.rawValue)))
        }
        let pathNode = try members.required("path")
        let path = try pathNode.text(of: "\"path\"")
        if let schema = schemas.first(where: { $0.namespace == namespace }), !schema.canReport(rule, at: path) {
            throw pathNode.error("the schema of \(namespace) has no \"\(path)\"" + hint(path, schema.placeNames))
        }
        return FindingException(
            namespace: namespace, path: path, rule: rule,
            reason: try members.required("reason").text(of: "\"reason\""),
            owner: try members.required("owner").text(of: "\"owner\""), expires: try day(members["expires"]),
            location: node.location)
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

    private static func hint(_ word: String, _ candidates: [String]) -> String {
        Spelling.hint(for: word, among: candidates).map { " (\($0))" } ?? ""
    }
}

extension FindingException {
    /// Whether both exceptions accept the same findings.
    fileprivate func isFor(the other: FindingException) -> Bool {
        namespace == other.namespace && path == other.path && rule == other.rule
    }
}
