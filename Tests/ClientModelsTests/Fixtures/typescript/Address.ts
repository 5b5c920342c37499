// Written by shipshape schema models: embedded in shop.Customer.
import Realm from "realm";

export class Address extends Realm.Object<Address> {
  city!: string;
  zip_code?: string;

  static schema: Realm.ObjectSchema = {
    name: "Address",
    embedded: true,
    properties: {
      city: "string",
      zip_code: "string?",
    },
  };
}
