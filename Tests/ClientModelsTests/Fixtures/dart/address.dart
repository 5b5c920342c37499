// Written by shipshape schema models: embedded in shop.Customer.
import 'package:realm/realm.dart';

part 'address.realm.dart';

@RealmModel(ObjectType.embeddedObject)
class $Address {
  late String city;
  @MapTo("zip_code")
  String? zipCode;
}
