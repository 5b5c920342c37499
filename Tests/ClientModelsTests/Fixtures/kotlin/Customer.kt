// Written by shipshape schema models: shop.Customer.
import io.realm.kotlin.types.RealmInstant
import io.realm.kotlin.types.RealmObject
import io.realm.kotlin.types.RealmUUID
import io.realm.kotlin.types.annotations.PersistedName
import io.realm.kotlin.types.annotations.PrimaryKey
import org.mongodb.kbson.Decimal128
import org.mongodb.kbson.ObjectId

class Customer : RealmObject {
    @PrimaryKey
    var _id: RealmUUID = RealmUUID.random()
    var name: String = ""
    var balance: Decimal128 = Decimal128("0")
    var photo: ByteArray = byteArrayOf()
    var since: RealmInstant = RealmInstant.now()
    var token: ObjectId = ObjectId()
    var description: String? = null
    @PersistedName("class")
    var class_: String? = null
    @PersistedName("first order")
    var first_order: Order? = null
    var address: Address? = null
}
