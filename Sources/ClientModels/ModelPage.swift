import BSON
import Mustache

/// The values that Mustache inserts into the template of a programming language to write the source file of one class.
///
/// Inside the template's section for a property, Mustache looks for a name first in the ``Property``, and then in the
/// `ModelPage`. The two types therefore have no property name in common.
struct ModelPage {
    let origin, className, classStored, base, fileStem, primaryKey: String
    let imports, gaps: [String]
    let fields, mappings: [Property]
    let isClassRenamed, isEmbedded, isAsymmetric: Bool
    private let template: String

    /// The values that fill the part of the template for one property of the class.
    struct Property {
        let name, stored, type, initial, schemaType: String
        let isRenamed, isPrimaryKey, isOptional, isCollection: Bool
    }

    init(_ model: ObjectClass, named names: ClassNames, in idiom: any LanguageIdiom) {
        className = names[model.name]
        template = idiom.template
        classStored = idiom.quoted(model.name)
        isClassRenamed = className != model.name
        base = idiom.base(of: model.kind)
        fileStem = String(idiom.fileName(of: className).prefix { $0 != "." })
        origin =
            "Written by shipshape schema models: \(model.kind == .embedded ? "embedded in " : "")\(model.namespace)"
            .printable
        (isEmbedded, isAsymmetric) = (model.kind == .embedded, model.kind == .asymmetric)
        gaps = model.gaps.map(\.printable)
        // No property has the name of its class, because such a property would be a constructor or hide the class.
        var taken: Set = [className]
        fields = model.fields.map { field in
            var name = idiom.identifier(idiom.propertyName(of: field.name))
            while !taken.insert(name).inserted { name += "_" }
            return Property(
                name: name, stored: idiom.quoted(field.name), type: idiom.typeName(of: field.type, names),
                initial: idiom.initial(of: field.type), schemaType: idiom.quoted(idiom.schemaType(of: field.type)),
                isRenamed: name != field.name, isPrimaryKey: field.isPrimaryKey,
                isOptional: field.type.isOptional && field.type.container == nil,
                isCollection: field.type.container != nil)
        }
        mappings = fields.filter(\.isRenamed)
        imports = idiom.imports(of: model, isRenamed: isClassRenamed || !mappings.isEmpty, names)
        primaryKey = fields.first(where: \.isPrimaryKey)?.name ?? ""
    }

    var text: String {
        do {
            return try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + template).render(self)
        } catch {
            // The template is a constant, and a test for each language reads it, so no run reaches this line.
            preconditionFailure("the template cannot be read: \(error)")
        }
    }
}
