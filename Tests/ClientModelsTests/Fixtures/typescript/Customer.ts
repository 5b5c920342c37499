// Written by shipshape schema models: shop.Customer.
import Realm from "realm";
import type { Address } from "./Address";
import type { Order } from "./Order";

export class Customer extends Realm.Object<Customer> {
  _id!: Realm.BSON.UUID;
  name!: string;
  balance!: Realm.BSON.Decimal128;
  photo!: ArrayBuffer;
  since!: Date;
  token!: Realm.BSON.ObjectId;
  description?: string;
  class_?: string;
  first_order?: Order;
  address?: Address;

  static schema: Realm.ObjectSchema = {
    name: "Customer",
    properties: {
      _id: "uuid",
      name: "string",
      balance: "decimal128",
      photo: "data",
      since: "date",
      token: "objectId",
      description: "string?",
      class_: { type: "string?", mapTo: "class" },
      first_order: { type: "Order?", mapTo: "first order" },
      address: "Address?",
    },
    primaryKey: "_id",
  };
}
