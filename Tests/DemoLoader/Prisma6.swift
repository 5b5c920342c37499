import ArgumentParser
import BSON
import Mongo

/// The command `demo-data prisma6`, which makes documents as Prisma 6 writes them.
struct Prisma6: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Loads the 20 orders of a shop into the database shop, as a client of Prisma 6 writes them.")

    @Option(help: "The connection string of the deployment.")
    var uri: String

    func run() async throws {
        let pool = try ClientPool.open(ConnectionOptions(uri: uri))
        _ = try await pool.withClient { client throws(MongoError) in
            try client.collection(Namespace(database: "shop", collection: "orders"))
                .insert((0..<20).map(Self.order))
        }
        print("shop.orders: 20 documents")
    }

    /// Returns an order: an `Int` is a long, and an enum its stored value.
    ///
    /// Some orders have a field that an older schema named, or lack the list that a newer one added.
    private static func order(_ index: Int) -> BSONDocument {
        let statuses = ["open", "paid", "shipped"]
        var members: [(String, BSONValue)] = [
            ("_id", .objectID(ObjectID(high: 0x66B0_2F10_5EA5_1DE8, low: UInt32(index)))),
            ("number", .long(Int64(1_000 + index))), ("status", .string(statuses[index % 3])),
            ("total", .double(Double(index) * 9.5)),
            ("placedAt", .date(milliseconds: 1_718_000_000_000 + Int64(index) * 86_400_000)),
            ("note", index % 4 == 0 ? "ring twice" : .null),
            ("address", index % 5 == 0 ? .null : ["street": "Gran Via 5", "city": "Barcelona", "zip": .null]),
        ]
        if index % 7 == 0 { members.append(("coupon", "SUMMER")) }
        if index % 9 != 8 {
            members.append(("items", [["sku": "A-7", "quantity": .long(Int64(index % 3 + 1)), "price": .double(9.5)]]))
        }
        return BSONDocument(members)
    }
}
