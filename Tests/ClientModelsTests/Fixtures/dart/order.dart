// Written by shipshape schema models: shop.Order.
import 'package:realm/realm.dart';
import 'address.dart';
import 'customer.dart';
import 'order_lines.dart';

part 'order.realm.dart';

@RealmModel()
class $Order {
  @PrimaryKey()
  @MapTo("_id")
  late ObjectId id;
  late bool isPaid;
  late double total;
  late int count;
  int? discount;
  $Customer? customer;
  late List<$Order> related;
  late Map<String, $Order?> byKind;
  late Set<String> tags;
  late List<double?> prices;
  late Map<String, String> labels;
  late RealmValue extra;
  late Map<String, RealmValue> extras;
  $Address? shipTo;
  late List<$Order_lines> lines;
  // Left out: code has several types: int, string.
  // Left out: match has the type regex, which clients do not have.
  // Left out: grid holds collections, which clients do not have.
}
