// Written by shipshape schema models: shop.Order.
import io.realm.kotlin.ext.realmDictionaryOf
import io.realm.kotlin.ext.realmListOf
import io.realm.kotlin.ext.realmSetOf
import io.realm.kotlin.types.RealmAny
import io.realm.kotlin.types.RealmDictionary
import io.realm.kotlin.types.RealmList
import io.realm.kotlin.types.RealmObject
import io.realm.kotlin.types.RealmSet
import io.realm.kotlin.types.annotations.PrimaryKey
import org.mongodb.kbson.ObjectId

class Order : RealmObject {
    @PrimaryKey
    var _id: ObjectId = ObjectId()
    var isPaid: Boolean = false
    var total: Double = 0.0
    var count: Long = 0
    var discount: Long? = null
    var customer: Customer? = null
    var related: RealmList<Order> = realmListOf()
    var byKind: RealmDictionary<Order?> = realmDictionaryOf()
    var tags: RealmSet<String> = realmSetOf()
    var prices: RealmList<Double?> = realmListOf()
    var labels: RealmDictionary<String> = realmDictionaryOf()
    var extra: RealmAny? = null
    var extras: RealmDictionary<RealmAny?> = realmDictionaryOf()
    var shipTo: Address? = null
    var lines: RealmList<Order_lines> = realmListOf()
    // Left out: code has several types: int, string.
    // Left out: match has the type regex, which clients do not have.
    // Left out: grid holds collections, which clients do not have.
}
