package import BSON
internal import CMongoC

/// A client borrowed from a pool; its calls block, so they must not run on Swift's cooperative threads.
///
/// The client returns to the pool when it and its collections, cursors and sessions are destroyed. The corresponding C
/// type is `mongoc_client_t`.
package struct Client: ~Copyable {
    let lease: ClientLease

    /// The deployment's addresses, without user and password.
    package var host: String { lease.host }

    /// Whether the deployment is reached through a router, according to the servers that the driver already knows.
    package var isBehindRouter: Bool { unsafe cmongoc_knows_router(lease.handle) }

    /// Whether the client's own read preference allows a secondary to answer reads.
    package var mayReadFromSecondaries: Bool {
        unsafe mongoc_read_prefs_get_mode(mongoc_client_get_read_prefs(lease.handle)) != MONGOC_READ_PRIMARY
    }

    /// Returns a collection of the deployment; the collection need not exist.
    package func collection(_ namespace: Namespace) -> MongoCollection {
        MongoCollection(namespace: namespace, lease: lease)
    }
}

extension Client {
    /// Runs a command unchanged, without the client's read and write concern.
    ///
    /// Nothing is retried, except a command that the server refused because of its load. The corresponding C function
    /// is `mongoc_client_command_with_opts`.
    /// - Parameters:
    ///   - options: the fields that the driver adds to the command, and `sessionId`: see ``Session/options(adding:)``.
    ///   - readPreference: the members that may run the command; the primary by default.
    /// - Throws: ``MongoError``, also for a reply of `ok: 1` that holds write errors or a write concern error.
    @discardableResult
    package func runCommand(
        _ command: BSONDocument, on database: String, options: BSONDocument = [:], readPreference: ReadPreference? = nil
    ) throws(MongoError) -> BSONDocument {
        try lease.run(.raw, command, on: database, options: options, readPreference: readPreference).checked(host: host)
    }

    /// Runs a command that reads, with one retry, and with the client's read concern and preference.
    ///
    /// The corresponding C function is `mongoc_client_read_command_with_opts`.
    package func runReadCommand(
        _ command: BSONDocument, on database: String, options: BSONDocument = [:]
    ) throws(MongoError) -> BSONDocument {
        try lease.run(.read, command, on: database, options: options)
    }

    /// Runs a command that writes, on the primary and with the client's write concern.
    ///
    /// The corresponding C function is `mongoc_client_write_command_with_opts`.
    /// - Throws: ``MongoError``, also for a reply of `ok: 1` that holds write errors or a write concern error.
    @discardableResult
    package func runWriteCommand(
        _ command: BSONDocument, on database: String, options: BSONDocument = [:]
    ) throws(MongoError) -> BSONDocument {
        try lease.run(.write, command, on: database, options: options).checked(host: host)
    }

    /// Returns the names of the databases on which the user has a privilege; the listing itself needs no privilege.
    /// - Parameter pattern: a regular expression that the names must match; `nil` for all names.
    package func databaseNames(matching pattern: String? = nil) throws(MongoError) -> [String] {
        let filter: BSONDocument = pattern.map { ["name": .regex(pattern: $0, options: "")] } ?? [:]
        let reply = try runReadCommand(
            [
                "listDatabases": 1, "nameOnly": true, "authorizedDatabases": true, "filter": .object(filter),
                "comment": "shipshape databases",
            ], on: "admin")
        return reply["databases"]?.document?.values.compactMap { $0.document?["name"]?.text } ?? []
    }
}

// MARK: questions to the server

extension Client {
    /// Sends `hello` to the primary or, with `readPreference`, to a member that this preference allows, and returns the
    /// reply.
    package func hello(readPreference: ReadPreference? = nil) throws(MongoError) -> ServerHello {
        do throws(MongoError) {
            return ServerHello(try runCommand(["hello": 1], on: "admin", readPreference: readPreference))
        } catch  where error.code == .commandNotFound {  // A server before 4.4.2 does not know `hello`.
            return ServerHello(try runCommand(["isMaster": 1], on: "admin", readPreference: readPreference))
        }
    }

    /// Asks the server for its version.
    package func buildInfo() throws(MongoError) -> BuildInfo {
        BuildInfo(try runCommand(["buildInfo": 1], on: "admin"))
    }

    /// Chooses a member by the client's read preference.
    ///
    /// The corresponding C function is `mongoc_client_select_server`.
    package func readingMember() throws(MongoError) -> Member {
        var error = bson_error_t()
        let id = unsafe cmongoc_select_reader(lease.handle, &error)
        guard id > 0 else { throw lease.explained(MongoError(error, host: lease.host)) }
        return Member(id: id)
    }

    /// Lists the collections and views of a database.
    ///
    /// The corresponding C function is `mongoc_database_find_collections_with_opts`.
    /// - Parameter options: the options of the `listCollections` command, such as `filter` and `nameOnly`.
    package func listCollections(
        of database: String, options: BSONDocument = [:]
    ) throws(MongoError) -> [CollectionInfo] {
        let cursor = unsafe Cursor(lease, options, of: "\(database).$cmd.listCollections") { options in
            unsafe options.lend { unsafe cmongoc_list_collections(lease.handle, database, $0) }
        }
        return try cursor.documents().map(CollectionInfo.init)
    }

    /// Returns the descriptions of a collection's indexes, as `listIndexes` has them.
    package func indexes(of namespace: Namespace) throws(MongoError) -> [BSONDocument] {
        let command: BSONDocument = [
            // A collection has at most 64 indexes, so one batch has them all.
            "listIndexes": .string(namespace.collection), "cursor": ["batchSize": 100],
        ]
        let reply = try runReadCommand(command, on: namespace.database)
        return reply["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? []
    }

    /// Describes one collection; `nil` when it does not exist.
    package func collectionInfo(_ namespace: Namespace) throws(MongoError) -> CollectionInfo? {
        let filter: BSONDocument = ["name": .string(namespace.collection)]
        return try listCollections(of: namespace.database, options: ["filter": .object(filter)]).first
    }

    /// Describes one collection; `nil` when it does not exist.
    ///
    /// Without the privilege `listCollections`, the result has only the name and the kind. The server shows these two
    /// of every collection that the user may read.
    package func readableCollection(_ namespace: Namespace) throws(MongoError) -> CollectionInfo? {
        do throws(MongoError) {
            return try collectionInfo(namespace)
        } catch {
            guard error.isAuthorization else { throw error }
            let filter: BSONDocument = ["name": .string(namespace.collection)]
            let options: BSONDocument = ["filter": .object(filter), "nameOnly": true, "authorizedCollections": true]
            if let info = try listCollections(of: namespace.database, options: options).first { return info }
            // The server lists every collection that the user is allowed to read, and the list does not contain this
            // collection. Either the user is not allowed to read it, and the count throws an error, or it does not
            // exist.
            _ = try collection(namespace).estimatedCount()
            return nil
        }
    }

    /// Returns the user's privileges; `nil` if no user is logged in.
    package func userPrivileges() throws(MongoError) -> UserPrivileges? {
        UserPrivileges(
            connectionStatus: try runReadCommand(["connectionStatus": 1, "showPrivileges": true], on: "admin"))
    }
}

extension ClientLease {
    /// The kind of command, which decides which of the client's settings the driver adds.
    enum CommandKind {
        case raw, read, write

        fileprivate var native: cmongoc_command_kind {
            switch self {
            case .raw: CMONGOC_COMMAND_RAW
            case .read: CMONGOC_COMMAND_READ
            case .write: CMONGOC_COMMAND_WRITE
            }
        }
    }

    /// Runs a command.
    ///
    /// If the reply is `ok: 1`, this method throws only for a write concern error. The caller checks the reply for
    /// write errors.
    func run(
        _ kind: CommandKind, _ command: BSONDocument, on database: String, options: BSONDocument = [:],
        readPreference: ReadPreference? = nil
    ) throws(MongoError) -> BSONDocument {
        let command = kind == .read && options["maxTimeMS"] == nil ? command.withTimeLimit : command
        return try pool.overload.retrying(writes: command.isOfDocuments) { () throws(MongoError) in
            var error = bson_error_t()
            var answer = unsafe cmongoc_reply()
            let isDone = unsafe run(kind, command, on: database, options: options, readPreference, &answer, &error)
            let reply = unsafe answer.take()
            if let error = MongoError(writeConcernErrorOf: reply, host: host) { throw error }
            guard isDone else { throw explained(MongoError(error, reply: reply, host: host)) }
            return reply
        }
    }

    /// Runs a command once; returns whether it succeeded.
    ///
    /// The caller frees `answer`, even after a failure.
    func run(
        _ kind: CommandKind, _ command: BSONDocument, on database: String, options: BSONDocument,
        _ readPreference: ReadPreference?, _ answer: inout cmongoc_reply, _ error: inout bson_error_t
    ) -> Bool {
        let (command, options) = Self.split(command, options)
        return unsafe lending(command, options, readPreference) { command, options, preference in
            unsafe cmongoc_command(handle, kind.native, database, command, options, preference, &answer, &error)
        }
    }

    /// Moves the read and the write concern from the command to its options.
    ///
    /// If they stayed in the command, the driver would also add the client's own concerns.
    private static func split(_ command: BSONDocument, _ options: BSONDocument) -> (BSONDocument, BSONDocument) {
        let moved = ["writeConcern", "readConcern"]
        guard moved.contains(where: { command[$0] != nil }), let elements = try? command.elements() else {
            return (command, options)
        }
        let given = (try? options.elements()) ?? []
        return (
            BSONDocument(elements.filter { !moved.contains($0.name) }.map { ($0.name, $0.value) }),
            BSONDocument((elements.filter { moved.contains($0.name) } + given).map { ($0.name, $0.value) })
        )
    }
}

extension BSONDocument {
    /// Whether the command writes documents.
    ///
    /// The client sends such a command again only if the server had not begun it.
    fileprivate var isOfDocuments: Bool {
        ["insert", "update", "delete", "findAndModify"].contains { self[$0] != nil }
    }

    fileprivate func checked(host: String) throws(MongoError) -> BSONDocument {
        if let first = WriteError.all(of: self).first {
            throw MongoError(first, of: self, host: host)
        }
        return self
    }
}
