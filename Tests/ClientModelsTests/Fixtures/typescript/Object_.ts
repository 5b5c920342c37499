// Written by shipshape schema models: shop.Event.
import Realm from "realm";

export class Object_ extends Realm.Object<Object_> {
  _id!: string;
  at!: Date;
  _price__net_?: number;
  gr__e?: number;
  x1st?: boolean;

  static schema: Realm.ObjectSchema = {
    name: "Object",
    asymmetric: true,
    properties: {
      _id: "string",
      at: "date",
      _price__net_: { type: "double?", mapTo: "$price \"net\"" },
      gr__e: { type: "int?", mapTo: "größe" },
      x1st: { type: "bool?", mapTo: "1st" },
    },
    primaryKey: "_id",
  };
}
