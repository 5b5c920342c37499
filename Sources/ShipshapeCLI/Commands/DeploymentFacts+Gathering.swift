internal import BSON
internal import Mongo
internal import ServerSchema

extension DeploymentFacts {
    /// Asks a deployment for what lint needs to know of it.
    static func gather(
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
            facts.collections[namespace] = collection
        }
        return facts
    }

    private static func kind(of hello: ServerHello) -> Kind {
        // Only what stands behind a load balancer, as Atlas serverless instances do, gives a service's id.
        if hello.reply["serviceId"] != nil { return .serverless }
        return switch hello.topology {
        case .standalone: .standalone
        case .replicaSet: .replicaSet
        case .sharded: .sharded
        }
    }
}
