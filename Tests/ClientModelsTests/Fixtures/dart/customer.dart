// Written by shipshape schema models: shop.Customer.
import 'dart:typed_data';
import 'package:realm/realm.dart';
import 'address.dart';
import 'order.dart';

part 'customer.realm.dart';

@RealmModel()
class $Customer {
  @PrimaryKey()
  @MapTo("_id")
  late Uuid id;
  late String name;
  late Decimal128 balance;
  late Uint8List photo;
  late DateTime since;
  late ObjectId token;
  String? description;
  @MapTo("class")
  String? class_;
  @MapTo("first order")
  $Order? firstOrder;
  $Address? address;
}
