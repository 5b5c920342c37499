// Written by shipshape schema models: embedded in shop.Order.
import io.realm.kotlin.types.EmbeddedRealmObject

class Order_lines : EmbeddedRealmObject {
    var amount: Long = 0
    var item: String? = null
}
