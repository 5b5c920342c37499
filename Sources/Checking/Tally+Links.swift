package import BSON

/// What was found at the other end of a link.
package struct LinkFinding: Hashable, Sendable {
    /// What.
    package enum Kind: Hashable, Sendable {
        /// There is no such document.
        case dangling
        /// The document does not sync itself.
        case targetUnsyncable
    }

    package let kind: Kind
    /// Which of the schema's links.
    package let link: Int
    /// Of the key.
    package let type: BSONType

    /// Joins the parts.
    package init(_ kind: Kind, link: Int, type: BSONType) {
        self.kind = kind
        self.link = link
        self.type = type
    }
}

extension Tally {
    /// Counts what was found at the other end of a document's links; that never fails the document.
    package mutating func add(_ findings: Set<LinkFinding>, of id: BSONValue) {
        for finding in findings {
            let rule: Rule = finding.kind == .dangling ? .linkDangling : .linkTargetUnsyncable
            let located = FindingCollector.Located(
                finding: Finding(rule, .info, node: schema.links[finding.link].node, Found(finding.type)), below: [])
            count(located, of: id)
        }
    }
}
