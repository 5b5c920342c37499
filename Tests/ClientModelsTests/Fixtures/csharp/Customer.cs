// Written by shipshape schema models: shop.Customer.
#nullable enable
using System;
using System.Collections.Generic;
using MongoDB.Bson;
using Realms;

public partial class Customer : IRealmObject
{
    [MapTo("_id")]
    [PrimaryKey]
    public Guid Id { get; set; }
    [MapTo("name")]
    public string Name { get; set; } = null!;
    [MapTo("balance")]
    public Decimal128 Balance { get; set; }
    [MapTo("photo")]
    public byte[] Photo { get; set; } = null!;
    [MapTo("since")]
    public DateTimeOffset Since { get; set; }
    [MapTo("token")]
    public ObjectId Token { get; set; }
    [MapTo("description")]
    public string? Description { get; set; }
    [MapTo("class")]
    public string? Class { get; set; }
    [MapTo("first order")]
    public Order? FirstOrder { get; set; }
    [MapTo("address")]
    public Address? Address { get; set; }
}
