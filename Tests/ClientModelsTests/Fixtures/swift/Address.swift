// Written by shipshape schema models: embedded in shop.Customer.
import Foundation
import RealmSwift

class Address: EmbeddedObject {
    @Persisted var city: String
    @Persisted var zip_code: String?
}
