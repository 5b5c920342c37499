// Written by shipshape schema models: shop.Order.
import Foundation
import RealmSwift

class Order: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var isPaid: Bool
    @Persisted var total: Double
    @Persisted var count: Int
    @Persisted var discount: Int?
    @Persisted var customer: Customer?
    @Persisted var related: List<Order>
    @Persisted var byKind: Map<String, Order?>
    @Persisted var tags: MutableSet<String>
    @Persisted var prices: List<Double?>
    @Persisted var labels: Map<String, String>
    @Persisted var extra: AnyRealmValue
    @Persisted var extras: Map<String, AnyRealmValue>
    @Persisted var shipTo: Address?
    @Persisted var lines: List<Order_lines>
    // Left out: code has several types: int, string.
    // Left out: match has the type regex, which clients do not have.
    // Left out: grid holds collections, which clients do not have.
}
