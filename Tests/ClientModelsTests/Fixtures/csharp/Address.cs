// Written by shipshape schema models: embedded in shop.Customer.
#nullable enable
using System;
using System.Collections.Generic;
using MongoDB.Bson;
using Realms;

public partial class Address : IEmbeddedObject
{
    [MapTo("city")]
    public string City { get; set; } = null!;
    [MapTo("zip_code")]
    public string? ZipCode { get; set; }
}
