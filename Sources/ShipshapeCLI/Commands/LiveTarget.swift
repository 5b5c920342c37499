internal import BSON
internal import Mongo

/// A collection of the schema as the deployment knows it.
struct LiveTarget: Sendable {
    var exists: Bool
    var kind = CollectionInfo.Kind.collection
    /// What tells it from another collection of its name; a view has none.
    var uuid: BSONValue?
    var estimatedCount: Int?

    static func find(_ namespace: Namespace, on client: borrowing Client) throws(MongoError) -> LiveTarget {
        guard let info = try client.readableCollection(namespace) else {
            return LiveTarget(exists: false)
        }
        guard info.kind == .collection else { return LiveTarget(exists: true, kind: info.kind, uuid: info.uuid) }
        return LiveTarget(
            exists: true, uuid: info.uuid, estimatedCount: try client.collection(namespace).estimatedCount())
    }
}
