"""Makes random values for a JSON Schema, and has the package jsonschema judge each: judge.py FILE NAME COUNT SEED.

NAME is the schema's name in the file, or "" for the file itself. Prints a line of JSON for each value: the document as
which BSON stores the value, in extended JSON, and whether the schema accepts the value. Where a schema says of a string
that it is a date, a UUID, an ObjectId or binary data, the document has a value of that type.
"""
import json
import random
import re
import sys

import jsonschema
from jsonschema import Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator

ID = re.compile("^[0-9a-f]{24}$")
DATE_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
UUIDS = ["123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"]
STRINGS = [
    "", "x", "Ünï", "abc", "a1", "z-9", "AB-12", "Q", "12345", "1234", "red", "blue", "A1B2C3",
    "DE89370400440532013000", "n@example.com", "someone.else@example.org", "a" * 25, "US", "FR", "info", "on", "free",
    "team", "dog",
]
NUMBERS = [0, 1, -1, 2, 7, 9, 13, 99, 100, 101, 150, 1899, 2000, 4096, 4097, 2**40]
NUMBERS += [0.5, 0.25, 1.5, 99.5, 100.5, -0.25, 5.5]
KEYS = ["a", "abc", "abcd", "free", "team", "hits", "misses", "red", "n_x", "n_", "Z9", "x y", "zip", "kind", "ü"]


class Maker:
    def __init__(self, document, validator, seed):
        self.document, self.validator, self.random = document, validator, random.Random(seed)
        self.checker = jsonschema.FormatChecker(formats=["date", "uuid"])
        self.checker.checks("date-time")(lambda text: not isinstance(text, str) or bool(DATE_TIME.match(text)))

    def judge(self, schema, value):
        return self.validator(self.whole(schema), format_checker=self.checker).is_valid(value)

    def whole(self, schema):
        """The schema with the parts of the document to which references lead."""
        if not isinstance(schema, dict):
            return schema
        parts = {key: self.document[key] for key in ("$defs", "definitions", "components") if key in self.document}
        return {**schema, **parts}

    def target(self, reference):
        if reference in self.document.get("schemas", {}):
            return self.document["schemas"][reference]
        value = self.document
        for step in reference.removeprefix("#/").split("/"):
            value = value[step.replace("%20", " ").replace("~1", "/").replace("~0", "~")]
        return value

    def value(self, schema, kind=None, passed=()):
        """A value and its twin for BSON. `kind` is the BSON type that the schema means for strings, if any."""
        if isinstance(schema, bool) or not schema or list(schema) == ["not"]:
            return self.plain(kind)
        if "$ref" in schema:
            # The imported validator does not check values below a recursive reference, so this function generates no
            # invalid value there.
            return self.value(self.target(schema["$ref"]), kind, passed + (schema["$ref"],))
        is_cut = len(set(passed)) < len(passed)
        kind = self.kind(schema) or kind
        items = schema.get("items")
        leads_back = isinstance(items, dict) and items.get("$ref") in passed
        if not is_cut and not leads_back and self.random.random() < 0.02:
            return self.plain(kind)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                branches = [b for b in schema[keyword] if not (is_cut and b.get("$ref") in passed)]
                return self.value(self.random.choice(branches), kind, passed)
        if "enum" in schema or "const" in schema:
            chosen = self.random.choice(schema.get("enum", [schema.get("const")]))
            return chosen, self.twin(chosen, kind)
        types = schema.get("type") or ("object" if "properties" in schema or "allOf" in schema else "string")
        chosen = self.random.choice(types) if isinstance(types, list) else types
        if chosen == "object":
            return self.object(schema, passed)
        if chosen == "array":
            return self.array(schema, passed, is_cut)
        return self.scalar(schema, chosen, kind, is_cut)

    @staticmethod
    def kind(schema):
        formats = {"date-time": "date", "date": "day", "uuid": "uuid", "binary": "binary", "duration": "duration"}
        if schema.get("format") in formats:
            return formats[schema["format"]]
        kinds = [Maker.kind(branch) for branch in schema.get("anyOf", []) if branch.get("format") in formats]
        if kinds:
            return kinds[0]
        return "id" if re.fullmatch(r"\^\[[^]]*\]\{24\}\$", schema.get("pattern", "")) else None

    def plain(self, kind):
        """A value that owes nothing to the schema."""
        # No number is generated for a duration: the imported validator accepts a number, but the JSON Schema does not.
        numbers = [] if kind == "duration" else self.random.sample(NUMBERS, 3)
        value = self.random.choice([
            None, True, False, [], {}, [1, "x"], {"a": 1}, *self.random.sample(STRINGS[:8], 3), *numbers])
        return value, self.twin(value, kind)

    def scalar(self, schema, type, kind, is_cut):
        if type == "null":
            return None, None
        if type == "boolean":
            value = self.random.random() < 0.5
            return value, value
        if type == "string":
            texts = {
                "date": [f"20{self.random.randrange(10, 99)}-02-0{self.random.randrange(1, 9)}T03:04:05Z"],
                "day": [f"20{self.random.randrange(10, 99)}-02-0{self.random.randrange(1, 9)}"], "uuid": UUIDS,
                "id": ["".join(self.random.choices("0123456789abcdef", k=24))], "duration": ["P1D", "PT3S"],
            }.get(kind, STRINGS)
        else:
            texts = [n for n in NUMBERS if type == "number" or isinstance(n, int)]
        own = {key: value for key, value in schema.items() if key not in ("title", "description", "default")}
        fitting = [text for text in texts if self.judge(own, text)]
        value = self.random.choice(fitting if fitting and (is_cut or self.random.random() < 0.97) else texts)
        return value, self.twin(value, kind)

    def array(self, schema, passed, is_cut):
        items = schema.get("items", True)
        first = items if isinstance(items, list) else schema.get("prefixItems", [])
        rest = schema.get("additionalItems", True) if isinstance(items, list) else items
        least, most = schema.get("minItems", 0), schema.get("maxItems", 4)
        count = 0 if is_cut else self.random.randint(least, max(least, most))
        if not is_cut and self.random.random() < 0.05:
            count = max(0, count + self.random.choice([-1, 1, 3]))
        pairs = [self.value(first[i] if i < len(first) else rest, None, passed) for i in range(count)]
        if "contains" in schema and self.random.random() < 0.9:
            pairs.append(self.value(schema["contains"]))
        return [value for value, _ in pairs], [twin for _, twin in pairs]

    def object(self, schema, passed):
        parts = [schema]
        for part in schema.get("allOf", []):
            parts.append(self.target(part["$ref"]) if "$ref" in part else part)
        pairs, is_cut = {}, len(set(passed)) < len(passed)
        for part in parts:
            required = part.get("required", [])
            for name, inner in part.get("properties", {}).items():
                if name == "_id" or (inner in (False, {"not": {}}) and self.random.random() < 0.97):
                    continue
                if self.random.random() < (1 if is_cut else 0.99 if name in required else 0.6):
                    pairs[name] = self.value(inner, None, passed)
            names = part.get("propertyNames", {})
            names = self.target(names["$ref"]) if "$ref" in names else names
            others = [part[key] for key in ("additionalProperties",) if isinstance(part.get(key), dict)]
            others += part.get("patternProperties", {}).values()
            keys = [key for key in names.get("enum", KEYS) if key not in part.get("properties", {})]
            for inner in others:
                for key in self.random.sample(keys, min(len(keys), self.random.randrange(3))):
                    pairs[key] = self.value(inner, None, passed)
        if not is_cut and self.random.random() < 0.03:
            pairs[self.random.choice(KEYS)] = self.plain(None)
        return {k: v for k, (v, _) in pairs.items()}, {k: t for k, (_, t) in pairs.items()}

    def twin(self, value, kind):
        """The extended JSON of a value."""
        if isinstance(value, str):
            if kind == "date" and DATE_TIME.match(value):
                return {"$date": value}
            if kind == "day" and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
                return {"$date": value + "T00:00:00Z"}
            if kind == "uuid" and value in UUIDS:
                return {"$uuid": value}
            if kind == "id" and ID.match(value):
                return {"$oid": value}
            if kind == "binary":
                return {"$binary": {"base64": "AAAA", "subType": "00"}}
        elif isinstance(value, list):
            return [self.twin(element, None) for element in value]
        elif isinstance(value, dict):
            return {key: self.twin(element, None) for key, element in value.items()}
        elif isinstance(value, bool) or value is None:
            return value
        elif isinstance(value, int):
            return self.random.choice([value, {"$numberLong": str(value)}])
        elif isinstance(value, float):
            return self.random.choice([value, {"$numberDecimal": str(value)}])
        return value


def without_nullable(schema):
    """The same schema without the keyword `nullable` of OpenAPI 3.0, which the package does not know."""
    if isinstance(schema, list):
        return [without_nullable(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: without_nullable(value) for key, value in schema.items() if key != "nullable"}
    if schema.get("nullable") is not True:
        return result
    return {"anyOf": [result, {"type": "null"}]}


def main():
    path, name, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    validator = Draft202012Validator
    is_old = document.get("openapi", "").startswith("3.0")
    if is_old:
        document = without_nullable(document)
        validator = Draft4Validator
    elif "draft-07" in document.get("$schema", ""):
        validator = Draft7Validator
    elif "additionalItems" in json.dumps(document):
        validator = Draft201909Validator
    maker = Maker(document, validator, seed)
    schema = document
    if name:
        schema = next(
            part[name] for part in (document.get("components", {}).get("schemas"), document.get("$defs"),
                                    document.get("definitions"), document.get("schemas")) if part)
    if "schemas" in document:
        # The Python package jsonschema resolves an $id only inside of the validated schema, so a reference to another
        # schema of the file is replaced by a path.
        schema = json.loads(json.dumps(schema).replace('"$ref": "Post"', '"$ref": "#/$defs/Post"'))
        maker.document = {**document, "$defs": document["schemas"]}
    described, passed = schema, ()
    while "$ref" in described:
        passed += (described["$ref"],)
        described = maker.target(described["$ref"])
    identity = described.get("properties", {}).get("_id")
    root = maker.whole(schema)
    judge = validator(root, format_checker=maker.checker)

    def is_valid(value):
        try:
            return judge.is_valid(value)
        except TypeError:  # The package fails when it words the error for additional items of different types.
            return False

    for number in range(count):
        value, twin = maker.value(described, None, passed)
        while not isinstance(value, dict):
            value, twin = maker.value(described, None, passed)
        value.pop("_id", None), twin.pop("_id", None)
        document_id = number
        if identity is not None:
            hexadecimal = f"{number:024x}"
            value, document_id = {"_id": hexadecimal, **value}, {"$oid": hexadecimal}
        line = {"document": {"_id": document_id, **twin}, "valid": is_valid(value)}
        print(json.dumps(line, ensure_ascii=False))


main()
