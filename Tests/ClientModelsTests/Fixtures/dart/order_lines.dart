// Written by shipshape schema models: embedded in shop.Order.
import 'package:realm/realm.dart';

part 'order_lines.realm.dart';

@RealmModel(ObjectType.embeddedObject)
class $Order_lines {
  late int amount;
  String? item;
}
