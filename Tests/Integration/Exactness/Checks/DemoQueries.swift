import BSON
import DemoData

/// A handwritten query for the documents that a rule finds in the demo's collections.
struct DemoQuery {
    let rule: String
    let path: String
    let filter: BSONDocument

    init(_ rule: String, _ path: String, _ filter: BSONDocument) {
        self.rule = rule
        self.path = path
        self.filter = filter
    }

    /// Returns one query for each rule and path that has findings in a collection; empty for a collection without
    /// findings.
    static func all(of collection: String, against version: DemoVersion) -> [DemoQuery] {
        switch (collection, version) {
        case ("Person", .v1): person
        case ("Person", .v2): person + nextPerson
        case ("Dog", .v1): dog
        case ("Dog", .v2): dog + nextDog
        case ("Task", .v1): task
        case ("Task", .v2): task + nextTask
        default: []
        }
    }

    private static let person = [
        DemoQuery("required-missing", "lastName", ["lastName": ["$exists": false]]),
        DemoQuery("required-null", "lastName", ["lastName": ["$type": "null"]]),
        DemoQuery("numeric-width-mismatch", "age", ["age": ["$type": "long"]]),
        DemoQuery("type-mismatch", "age", ["age": ["$type": "string"]]),
        DemoQuery(
            "dictionary-value-null", "settings{}",
            [
                "$where":
                    "function() { return Object.keys(this.settings).some(k => this.settings[k] === null) }"
            ]),
    ]

    private static let nextPerson = [
        DemoQuery("required-missing", "email", ["email": ["$exists": false]]),
        DemoQuery("required-null", "email", ["email": ["$type": "null"]]),
        DemoQuery("required-missing", "yearsSinceBirth", ["yearsSinceBirth": ["$exists": false]]),
        DemoQuery(
            "embedded-required-missing", "address.country",
            ["address": ["$type": "object"], "address.country": ["$exists": false]]),
        DemoQuery("embedded-required-null", "address.country", ["address.country": ["$type": "null"]]),
    ]

    private static let dog = [
        DemoQuery("required-missing", "name", ["name": ["$exists": false]]),
        DemoQuery("numeric-width-mismatch", "weight", ["weight": ["$type": "int"]]),
    ]

    private static let nextDog = [
        DemoQuery("required-missing", "weight", ["weight": ["$exists": false]]),
        DemoQuery("required-null", "weight", ["weight": ["$type": "null"]]),
        DemoQuery("numeric-width-mismatch", "fee", ["fee": ["$type": "long"]]),
    ]

    private static let task = [
        DemoQuery("required-missing", "status", ["status": ["$exists": false]]),
        DemoQuery("required-null", "status", ["status": ["$type": "null"]]),
    ]

    private static let nextTask = [
        DemoQuery("required-missing", "assignee", ["assignee": ["$exists": false]]),
        DemoQuery("required-null", "assignee", ["assignee": ["$type": "null"]]),
        DemoQuery("type-mismatch", "priority", ["priority": ["$type": "string"]]),
    ]
}
