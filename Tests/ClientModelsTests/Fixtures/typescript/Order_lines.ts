// Written by shipshape schema models: embedded in shop.Order.
import Realm from "realm";

export class Order_lines extends Realm.Object<Order_lines> {
  amount!: number;
  item?: string;

  static schema: Realm.ObjectSchema = {
    name: "Order_lines",
    embedded: true,
    properties: {
      amount: "int",
      item: "string?",
    },
  };
}
