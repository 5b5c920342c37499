// Written by shipshape schema models: embedded in shop.Order.
import Foundation
import RealmSwift

class Order_lines: EmbeddedObject {
    @Persisted var amount: Int
    @Persisted var item: String?
}
