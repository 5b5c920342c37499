internal import BSON

/// The lint rule for roles that Flexible Sync denies all access: `role-not-syncable`.
///
/// Source: App Services documentation, "Device Sync-Compatible Permissions".
struct RoleLint {
    private let rules: AccessRules
    /// The queryable fields; the filters of a role must not name other fields.
    private let queryable: Set<String>
    private var findings: [LintFinding] = []
    private var role = ""

    static func findings(in context: LintContext) -> [LintFinding] {
        guard let sync = context.schema.sync, sync.mode == .flexible, !sync.hasRoles else { return [] }
        return context.schema.rules.flatMap { rules -> [LintFinding] in
            let covered = context.synced.filter { schema in
                rules.namespace.map { $0 == schema.namespace } ?? (schema.service == rules.service)
            }
            guard !covered.isEmpty else { return [] }
            var lint = RoleLint(rules: rules, queryable: Set(covered.flatMap { sync.queryableFields(of: $0) }))
            lint.run()
            return lint.findings
        }
    }

    private init(rules: AccessRules, queryable: Set<String>) {
        self.rules = rules
        self.queryable = queryable
    }

    private mutating func run() {
        for role in rules.json["roles"]?.elements ?? [] where role.members != nil {
            self.role = role["name"]?.text ?? ""
            filters(of: role)
            for key in ["insert", "delete"] { if let json = role[key] { expression(json) } }
            permissions(of: role)
        }
    }

    private mutating func filters(of role: LocatedJSON) {
        let filters = role["document_filters"]
        let missing = ["read", "write"].filter { filters?[$0] == nil }
        if !missing.isEmpty {
            let names = missing.map { "document_filters.\($0)" }.joined(separator: " and ")
            note("it has no \(names)", at: filters ?? role, remedy: "write it: true, false, or a filter")
        }
        for key in ["read", "write"] { if let json = filters?[key] { expression(json) } }
    }

    /// Checks that the permissions on documents and fields are constants, and that `_id` has no permissions of its own.
    ///
    /// Sync evaluates these permissions before it reads documents, so they cannot depend on a document's values.
    private mutating func permissions(of json: LocatedJSON) {
        for key in ["read", "write"] { literal(json[key], key) }
        if let more = json["additional_fields"] { for key in ["read", "write"] { literal(more[key], key) } }
        for field in json["fields"]?.members ?? [] {
            if field.name == "_id" {
                note("it has permissions for _id", at: field.value, remedy: "leave them out")
            }
            permissions(of: field.value)
        }
    }

    private mutating func literal(_ json: LocatedJSON?, _ key: String) {
        guard let json else { return }
        switch json.value {
        case .scalar(.bool), .scalar(.null): break
        default: note("its \(key) is not true or false", at: json, remedy: "put the condition into document_filters")
        }
    }
}

extension RoleLint {
    /// Checks the fields, expansions and functions in a filter or a condition.
    private mutating func expression(_ json: LocatedJSON) {
        if let text = json.text { expansion(text, at: json) }
        for element in json.elements ?? [] { expression(element) }
        for member in json.members ?? [] {
            if member.name.hasPrefix("%%") {
                expansion(member.name, at: member.value)
                values(member.value)
            } else if member.name.hasPrefix("%") || member.name.hasPrefix("$") {
                operation(member)
            } else {
                field(member)
                values(member.value)
            }
        }
    }

    private mutating func operation(_ member: LocatedJSON.Member) {
        if member.name == "%function" {
            note("one of its conditions calls a function", at: member.value, remedy: "use fields of %%user instead")
        } else {
            expression(member.value)
        }
    }

    /// Checks the values that a field or an expansion is compared with.
    ///
    /// The values name no fields, but may contain expansions and functions.
    private mutating func values(_ json: LocatedJSON) {
        if let text = json.text { expansion(text, at: json) }
        for element in json.elements ?? [] { values(element) }
        for member in json.members ?? [] {
            if member.name == "%function" { operation(member) } else { values(member.value) }
        }
    }

    private mutating func field(_ member: LocatedJSON.Member) {
        let name = member.name.split(separator: ".").first.map(String.init) ?? member.name
        guard !queryable.contains(name) else { return }
        note(
            "one of its conditions names \(name), which is not queryable", at: member.nameLocation,
            remedy: Spelling.hint(for: name, among: queryable.sorted()) ?? "make it a queryable field")
    }

    private mutating func expansion(_ text: String, at json: LocatedJSON) {
        guard text.hasPrefix("%%") else { return }
        let name = text.dropFirst(2).prefix { $0 != "." && $0 != "[" }
        guard !["true", "false", "values", "environment", "user"].contains(name) else { return }
        note(
            "one of its conditions uses %%\(name)", at: json,
            remedy: "use %%true, %%false, %%values, %%environment or %%user")
    }

    private mutating func note(_ problem: String, at json: LocatedJSON, remedy: String) {
        note(problem, at: json.location, remedy: remedy)
    }

    private mutating func note(_ problem: String, at location: SourceLocation, remedy: String) {
        findings.append(
            LintFinding(
                .roleNotSyncable, .warning, namespace: rules.namespace, at: location,
                "under Sync the role \"\(role)\" gives no access: \(problem)", remedy: remedy))
    }
}
