// Written by shipshape schema models: shop.Order.
import Realm from "realm";
import type { Address } from "./Address";
import type { Customer } from "./Customer";
import type { Order_lines } from "./Order_lines";

export class Order extends Realm.Object<Order> {
  _id!: Realm.BSON.ObjectId;
  isPaid!: boolean;
  total!: number;
  count!: number;
  discount?: number;
  customer?: Customer;
  related!: Realm.List<Order>;
  byKind!: Realm.Dictionary<Order | null>;
  tags!: Realm.Set<string>;
  prices!: Realm.List<number | null>;
  labels!: Realm.Dictionary<string>;
  extra!: Realm.Mixed;
  extras!: Realm.Dictionary<Realm.Mixed>;
  shipTo?: Address;
  lines!: Realm.List<Order_lines>;

  static schema: Realm.ObjectSchema = {
    name: "Order",
    properties: {
      _id: "objectId",
      isPaid: "bool",
      total: "double",
      count: "int",
      discount: "int?",
      customer: "Customer?",
      related: "Order[]",
      byKind: "Order{}",
      tags: "string<>",
      prices: "double?[]",
      labels: "string{}",
      extra: "mixed",
      extras: "mixed{}",
      shipTo: "Address?",
      lines: "Order_lines[]",
      // Left out: code has several types: int, string.
      // Left out: match has the type regex, which clients do not have.
      // Left out: grid holds collections, which clients do not have.
    },
    primaryKey: "_id",
  };
}
