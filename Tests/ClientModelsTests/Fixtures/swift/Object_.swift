// Written by shipshape schema models: shop.Event.
import Foundation
import RealmSwift

class Object_: AsymmetricObject {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var at: Date
    @Persisted var _price__net_: Double?
    @Persisted var gr__e: Int?
    @Persisted var x1st: Bool?

    override class func _realmObjectName() -> String? { "Object" }

    override class func propertiesMapping() -> [String: String] {
        [
            "_price__net_": "$price \"net\"",
            "gr__e": "größe",
            "x1st": "1st",
        ]
    }
}
