// Written by shipshape schema models: embedded in shop.Customer.
import io.realm.kotlin.types.EmbeddedRealmObject

class Address : EmbeddedRealmObject {
    var city: String = ""
    var zip_code: String? = null
}
