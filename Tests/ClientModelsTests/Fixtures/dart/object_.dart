// Written by shipshape schema models: shop.Event.
import 'package:realm/realm.dart';

part 'object_.realm.dart';

@RealmModel(ObjectType.asymmetricObject)
@MapTo("Object")
class $Object_ {
  @PrimaryKey()
  @MapTo("_id")
  late String id;
  late DateTime at;
  @MapTo("\$price \"net\"")
  double? priceNet;
  @MapTo("größe")
  int? grE;
  @MapTo("1st")
  bool? x1st;
}
