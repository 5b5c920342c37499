import BSON
import SchemaChange
import ServerSchema
import Testing

/// Tests links whose source is a field with a list of keys.
///
/// The source of such a link is written either as the field (`pets`) or as its elements (`pets.[]`).
@Suite struct LinkTests {
    private let pets = Namespace(database: "app", collection: "Pet")

    private func rows(_ old: ServerSchema, _ new: ServerSchema) -> [String] {
        SchemaDiff.changes(from: old, to: new).map { "\($0.code): \($0.description)" }
    }

    @Test func bothWaysToNameTheSourceAreTheSameLink() {
        let list = app(x(list(objectID)))
        #expect(rows(list.linking("x", pets, isList: true), list.linking("x.[]", pets)) == [])
        #expect(
            rows(list, list.linking("x", pets, isList: true)) == ["link-added: x[] becomes a link to app.Pet"])
        let dictionary = app(x(dictionary(objectID)))
        #expect(
            rows(dictionary.linking("x", pets, isList: true), dictionary)
                == ["link-removed: x{} is no longer a link to app.Pet"])
    }

    @Test func aListOfEmbeddedObjectsThatBecomesOneOfLinks() {
        #expect(
            rows(app(x(list(embedded("Pet", "")))), app(x(list(objectID))).linking("x", pets, isList: true))
                == ["embedding-changed: x[]: embedded Pet → objectId"])
    }

    @Test func oneLinkThatBecomesManyStaysALink() {
        let (one, many) = (app(x(objectID)), app(x(list(objectID))))
        #expect(
            rows(one.linking("x", pets), many.linking("x", pets, isList: true))
                == ["cardinality-changed: x: objectId → list of objectId"])
        #expect(
            rows(many.linking("x.[]", pets), one) == [
                "cardinality-changed: x: list of objectId → objectId", "link-removed: x is no longer a link to app.Pet",
            ])
    }

    @Test func aLinkWhoseKeyTypeChangesIsAChangeOfType() {
        #expect(
            rows(app(x(objectID)).linking("x", pets), app(x(string)).linking("x", pets))
                == ["property-type-changed: x: objectId → string"])
    }

    @Test func theSidesOfAChangeNameTheLink() throws {
        let change = try #require(
            SchemaDiff.changes(
                from: app(x(list(objectID))), to: app(x(set(objectID))).linking("x", pets, isList: true)
            ).first)
        #expect(change.old?.link == nil && change.new?.link?.target == pets)
    }
}
