// Written by shipshape schema models: shop.Order.
#nullable enable
using System;
using System.Collections.Generic;
using MongoDB.Bson;
using Realms;

public partial class Order : IRealmObject
{
    [MapTo("_id")]
    [PrimaryKey]
    public ObjectId Id { get; set; }
    [MapTo("isPaid")]
    public bool IsPaid { get; set; }
    [MapTo("total")]
    public double Total { get; set; }
    [MapTo("count")]
    public long Count { get; set; }
    [MapTo("discount")]
    public long? Discount { get; set; }
    [MapTo("customer")]
    public Customer? Customer { get; set; }
    [MapTo("related")]
    public IList<Order> Related { get; } = null!;
    [MapTo("byKind")]
    public IDictionary<string, Order?> ByKind { get; } = null!;
    [MapTo("tags")]
    public ISet<string> Tags { get; } = null!;
    [MapTo("prices")]
    public IList<double?> Prices { get; } = null!;
    [MapTo("labels")]
    public IDictionary<string, string> Labels { get; } = null!;
    [MapTo("extra")]
    public RealmValue Extra { get; set; }
    [MapTo("extras")]
    public IDictionary<string, RealmValue> Extras { get; } = null!;
    [MapTo("shipTo")]
    public Address? ShipTo { get; set; }
    [MapTo("lines")]
    public IList<Order_lines> Lines { get; } = null!;
    // Left out: code has several types: int, string.
    // Left out: match has the type regex, which clients do not have.
    // Left out: grid holds collections, which clients do not have.
}
