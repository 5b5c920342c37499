import Mongo

extension Mongod {
    /// The deployment that all tests of a process share: the one at `SHIPSHAPE_TEST_URI`, or else a new replica set.
    package static var shared: Mongod { get async throws { try await sharedInstance.value } }

    /// A deployment that requires a login; all tests of a process share it.
    package static var withAuthentication: Mongod { get async throws { try await authenticatedInstance.value } }

    /// Returns the path of mongod.
    /// - Throws: an error that says how to install mongod, or how to name its path, if there is none.
    package static func executable() throws -> String {
        if let given = environmentVariable("SHIPSHAPE_MONGOD") {
            guard isExecutable(given) else { throw TestSupportError("SHIPSHAPE_MONGOD=\(given) cannot be run") }
            return given
        }
        let folders = (environmentVariable("PATH") ?? "").split(separator: ":").map(String.init)
        let candidates = folders.map { "\($0)/mongod" } + ["\(cacheFolder)/mongod-6.0.5/mongod"]
        guard let found = candidates.first(where: isExecutable) else {
            throw TestSupportError("no mongod for the tests: run scripts/setup, or set SHIPSHAPE_MONGOD")
        }
        return found
    }

    /// Returns the folder of the Python package jsonschema, which validates values by a JSON Schema.
    /// - Throws: an error that says how to install the package if there is none.
    package static func jsonschemaFolder() throws -> String {
        let folder = "\(cacheFolder)/jsonschema-4.17.3"
        guard isExecutable("\(folder)/jsonschema") else {
            throw TestSupportError("no package jsonschema for the tests in \(folder): run scripts/setup --tests")
        }
        return folder
    }

    /// The folder to which `scripts/setup` downloads software.
    private static var cacheFolder: String {
        if let own = environmentVariable("SHIPSHAPE_CACHE") { return own }
        let base = environmentVariable("XDG_CACHE_HOME") ?? (environmentVariable("HOME") ?? "") + "/.cache"
        return "\(base)/shipshape"
    }
}

private let sharedInstance = AsyncOnce<Mongod> {
    guard let uri = environmentVariable("SHIPSHAPE_TEST_URI") else { return try await Mongod.start() }
    return Mongod(uri: uri, host: try MongoURI.parse(uri).hosts.joined(separator: ","), process: nil)
}

private let authenticatedInstance = AsyncOnce<Mongod> { try await Mongod.start(.withAuthentication) }
