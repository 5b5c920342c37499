package import BSON
package import Mongo
package import ServerSchema

extension DeploymentFacts {
    /// Reads the facts about a deployment and its collections that `lint` needs.
    package static func gather(
        _ namespaces: [Namespace], on client: borrowing Client, source: String
    ) throws(MongoError) -> DeploymentFacts {
        let hello = try client.hello()
        var facts = DeploymentFacts(source: source, kind: kind(of: hello), version: try client.buildInfo().numbers)
        for namespace in namespaces {
            guard let info = try client.collectionInfo(namespace) else { continue }
            var collection = Collection()
            collection.isTimeSeries = info.kind == .timeseries
            collection.validator = info.validator
            collection.refuses =
                info.options["validationAction"]?.text != "warn" && info.options["validationLevel"]?.text != "off"
            if info.kind == .collection { collection.uniqueIndexes = try uniqueIndexes(of: namespace, on: client) }
            facts.collections[namespace] = collection
        }
        return facts
    }

    private static func uniqueIndexes(
        of namespace: Namespace, on client: borrowing Client
    ) throws(MongoError) -> [String] {
        try client.indexes(of: namespace).filter { $0["unique"] == true && $0["clustered"] != true }.compactMap {
            $0["name"]?.text
        }
    }

    private static func kind(of hello: ServerHello) -> Kind {
        // Only a server behind a load balancer, such as an Atlas serverless instance, returns a service's ID.
        if hello.reply["serviceId"] != nil { return .serverless }
        return switch hello.topology {
        case .standalone: .standalone
        case .replicaSet: .replicaSet
        case .sharded: .sharded
        }
    }
}
