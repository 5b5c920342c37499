// Written by shipshape schema models: embedded in shop.Order.
#nullable enable
using System;
using System.Collections.Generic;
using MongoDB.Bson;
using Realms;

public partial class Order_lines : IEmbeddedObject
{
    [MapTo("amount")]
    public long Amount { get; set; }
    [MapTo("item")]
    public string? Item { get; set; }
}
