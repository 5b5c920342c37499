package import BSON
package import Mongo

/// A MongoDB role that grants the actions that a command needs or can use, and no others.
package struct Role: Sendable {
    /// The actions that the role grants on one resource, and their purposes.
    package struct Grant: Sendable, Hashable {
        /// The resource on which the role grants the actions.
        package var resource: PrivilegeResource
        /// The actions that the role grants on the resource, each only once.
        package var actions: [String]
        /// The purposes for which the command needs the actions, each as a clause.
        package var purposes: [String]
    }

    package let name: String
    /// The grants, one for each resource.
    package let grants: [Grant]

    /// Creates the role for a command on its resources.
    /// - Parameter isFull: whether the role also grants the actions that the command can do without.
    package init(_ command: CommandNeeds, on places: WorkPlaces, isFull: Bool) {
        self.init(
            name: "shipshape-" + command.command.replacing(" --", with: "-").replacing(" ", with: "-"),
            needs: isFull ? command.needs : command.required, on: places)
    }

    private init(name: String, needs: [Need], on places: WorkPlaces) {
        self.name = name
        var grants: [Grant] = []
        for need in needs {
            for resource in places.resources[need.place] ?? [] {
                let index = grants.firstIndex { $0.resource == resource } ?? grants.endIndex
                if index == grants.endIndex { grants.append(Grant(resource: resource, actions: [], purposes: [])) }
                grants[index].actions += need.actions.filter { !grants[index].actions.contains($0) }
                if !grants[index].purposes.contains(need.purpose) { grants[index].purposes.append(need.purpose) }
            }
        }
        self.grants = grants
    }
}

// MARK: Output formats

extension Role {
    /// Returns the command for mongosh that creates the role.
    package func mongosh() -> String {
        let lines = grants.map { grant in
            let actions = grant.actions.map { "\"\($0)\"" }.joined(separator: ", ")
            return """
                    // \(grant.purposes.joined(separator: "; "))
                    { resource: \(Self.resource(grant.resource)), actions: [\(actions)] },
                """
        }
        return """
            db.getSiblingDB("admin").createRole({
              role: "\(name)",
              privileges: [
            \(lines.joined(separator: "\n"))
              ],
              roles: []
            })
            """
    }

    private static func resource(_ resource: PrivilegeResource) -> String {
        switch resource {
        case .collection(let namespace):
            "{ db: \(namespace.database.quotedAsJSON), collection: \(namespace.collection.quotedAsJSON) }"
        case .database(let name): "{ db: \(name.quotedAsJSON), collection: \"\" }"
        case .anyDatabase: "{ db: \"\", collection: \"\" }"
        case .cluster: "{ cluster: true }"
        }
    }

    /// Returns the role as JSON for the Atlas Administration API, and the actions that a custom role of Atlas cannot
    /// have.
    package func atlas() -> (json: String, missing: [String]) {
        var missing: [String] = []
        var entries: [(action: String, resources: [PrivilegeResource])] = []
        for grant in grants {
            for action in grant.actions {
                guard let name = Self.atlasActions[action] else {
                    if !missing.contains(action) { missing.append(action) }
                    continue
                }
                let index = entries.firstIndex { $0.action == name } ?? entries.endIndex
                if index == entries.endIndex { entries.append((name, [])) }
                entries[index].resources.append(grant.resource)
            }
        }
        let lines = entries.map { entry in
            let resources = entry.resources.map(Self.atlasResource).joined(separator: ",\n        ")
            return """
                    {
                      "action": "\(entry.action)",
                      "resources": [
                        \(resources)
                      ]
                    }
                """
        }
        let json = """
            {
              "roleName": "\(name)",
              "actions": [
            \(lines.joined(separator: ",\n"))
              ],
              "inheritedRoles": []
            }
            """
        return (json, missing)
    }

    private static func atlasResource(_ resource: PrivilegeResource) -> String {
        switch resource {
        case .collection(let namespace):
            #"{ "db": \#(namespace.database.quotedAsJSON), "collection": \#(namespace.collection.quotedAsJSON) }"#
        case .database(let name): #"{ "db": \#(name.quotedAsJSON), "collection": "" }"#
        case .anyDatabase: #"{ "db": "", "collection": "" }"#
        case .cluster: #"{ "cluster": true }"#
        }
    }

    /// The names of MongoDB's actions in Atlas.
    ///
    /// Source: https://www.mongodb.com/docs/atlas/reference/custom-role-actions
    private static let atlasActions = [
        "find": "FIND", "insert": "INSERT", "update": "UPDATE", "remove": "REMOVE", "createIndex": "CREATE_INDEX",
        "dropCollection": "DROP_COLLECTION", "changeStream": "CHANGE_STREAM", "collStats": "COLL_STATS",
        "listCollections": "LIST_COLLECTIONS", "listIndexes": "LIST_INDEXES", "serverStatus": "SERVER_STATUS",
        "replSetGetStatus": "REPLSET_GET_STATUS", "collMod": "COLL_MOD",
    ]
}

extension Role {
    package var privileges: [BSONValue] {
        grants.map { grant in
            let resource: BSONValue =
                switch grant.resource {
                case .collection(let namespace):
                    ["db": .string(namespace.database), "collection": .string(namespace.collection)]
                case .database(let name): ["db": .string(name), "collection": ""]
                case .anyDatabase: ["db": "", "collection": ""]
                case .cluster: ["cluster": true]
                }
            return ["resource": resource, "actions": .array(of: grant.actions.map { .string($0) })]
        }
    }
}
