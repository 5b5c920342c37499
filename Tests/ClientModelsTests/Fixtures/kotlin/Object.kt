// Written by shipshape schema models: shop.Event.
import io.realm.kotlin.mongodb.types.AsymmetricRealmObject
import io.realm.kotlin.types.RealmInstant
import io.realm.kotlin.types.annotations.PersistedName
import io.realm.kotlin.types.annotations.PrimaryKey

class Object : AsymmetricRealmObject {
    @PrimaryKey
    var _id: String = ""
    var at: RealmInstant = RealmInstant.now()
    @PersistedName("\$price \"net\"")
    var _price__net_: Double? = null
    @PersistedName("größe")
    var gr__e: Long? = null
    @PersistedName("1st")
    var x1st: Boolean? = null
}
