// Written by shipshape schema models: shop.Customer.
import Foundation
import RealmSwift

class Customer: Object {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var name: String
    @Persisted var balance: Decimal128
    @Persisted var photo: Data
    @Persisted var since: Date
    @Persisted var token: ObjectId
    @Persisted var description_: String?
    @Persisted var class_: String?
    @Persisted var first_order: Order?
    @Persisted var address: Address?

    override class func propertiesMapping() -> [String: String] {
        [
            "description_": "description",
            "class_": "class",
            "first_order": "first order",
        ]
    }
}
