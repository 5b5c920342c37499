"""The reference of `check`: a script with pymongo and the fastest JSON Schema library of Python.

    check.py URI DATABASE COLLECTION SCHEMA

The schema is compiled once. JSON Schema has no ObjectIds and no dates, so those fields are required, but their types
are not checked.
"""

import json
import sys

import fastjsonschema
import pymongo


def main():
    uri, database, collection, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        validate = fastjsonschema.compile(json.load(file))
    documents = failing = 0
    for document in pymongo.MongoClient(uri)[database][collection].find(batch_size=10_000):
        documents += 1
        try:
            validate(document)
        except fastjsonschema.JsonSchemaException:
            failing += 1
    print(f"{documents} documents, {failing} do not fit")


main()
