// Written by shipshape schema models: shop.Event.
#nullable enable
using System;
using System.Collections.Generic;
using MongoDB.Bson;
using Realms;

[MapTo("Object")]
public partial class Object_ : IAsymmetricObject
{
    [MapTo("_id")]
    [PrimaryKey]
    public string Id { get; set; } = null!;
    [MapTo("at")]
    public DateTimeOffset At { get; set; }
    [MapTo("$price \"net\"")]
    public double? PriceNet { get; set; }
    [MapTo("größe")]
    public long? GrE { get; set; }
    [MapTo("1st")]
    public bool? x1st { get; set; }
}
