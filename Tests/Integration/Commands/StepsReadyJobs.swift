/// The test cases for most jobs of `jobs/examples` whose steps the server computes; ``ReadyJobsTests`` has the others.
enum StepsReadyJobs {
    static let cases = [
        ReadyJobCase(
            "rename",
            before: [#"{"_id": 1, "surname": "A", "z": 1}"#, #"{"_id": 2, "surname": "B", "lastName": "C"}"#],
            after: [#"{"_id": 1, "z": 1, "lastName": "A"}"#, #"{"_id": 2, "surname": "B", "lastName": "C"}"#],
            exitCode: 1),
        ReadyJobCase(
            "combine", before: [#"{"_id": 1, "firstName": "A", "lastName": "B"}"#, #"{"_id": 2, "firstName": "A"}"#],
            after: [
                #"{"_id": 1, "firstName": "A", "lastName": "B", "fullName": "A B"}"#, #"{"_id": 2, "firstName": "A"}"#,
            ], exitCode: 1),
        ReadyJobCase(
            "split", before: [#"{"_id": 1, "fullName": "A B", "phone": "+49 30 123"}"#],
            after: [
                #"{"_id": 1, "fullName": "A B", "phone": "+49 30 123", "firstName": "A", "lastName": "B", "phoneCountry": "49", "phoneNumber": "30 123"}"#
            ]),
        ReadyJobCase(
            "wrap", before: [#"{"_id": 1, "tags": "a", "price": 5}"#, #"{"_id": 2, "tags": ["a"]}"#],
            after: [#"{"_id": 1, "tags": ["a"], "price": {"amount": 5}}"#, #"{"_id": 2, "tags": ["a"]}"#]),
        ReadyJobCase(
            "unwrap",
            before: [#"{"_id": 1, "tags": ["a"], "price": {"amount": 5}}"#, #"{"_id": 2, "tags": ["a", "b"]}"#],
            after: [#"{"_id": 1, "tags": "a", "price": 5}"#, #"{"_id": 2, "tags": ["a", "b"]}"#], exitCode: 1),
        ReadyJobCase(
            "dedupe", before: [#"{"_id": 1, "tags": ["a", "b", "a"]}"#], after: [#"{"_id": 1, "tags": ["a", "b"]}"#]),
        ReadyJobCase(
            "drop-nulls", before: [#"{"_id": 1, "tags": ["a", null], "address": {"city": null, "zip": 1}}"#],
            after: [#"{"_id": 1, "tags": ["a"], "address": {"zip": 1}}"#]),
        ReadyJobCase("unset", before: [#"{"_id": 1, "nickname": "A", "z": 1}"#], after: [#"{"_id": 1, "z": 1}"#]),
        ReadyJobCase(
            "map", before: [#"{"_id": 1, "owner": 7, "friends": [8, 2]}"#, #"{"_id": 2, "owner": 3}"#],
            after: [#"{"_id": 1, "owner": 1, "friends": [1, 2]}"#, #"{"_id": 2, "owner": 3}"#]),
        ReadyJobCase(
            "cases",
            before: [
                #"{"_id": 1, "joined": ""}"#, #"{"_id": 2, "joined": 1500000000}"#,
                #"{"_id": 3, "joined": {"$numberLong": "1500000000000"}}"#,
            ],
            after: [
                #"{"_id": 1}"#, #"{"_id": 2, "joined": {"$date": "2017-07-14T02:40:00Z"}}"#,
                #"{"_id": 3, "joined": {"$date": "2017-07-14T02:40:00Z"}}"#,
            ]),
        ReadyJobCase(
            "expression", before: [#"{"_id": 1, "items": [{"price": 1}, {"price": 2}], "visits": 4}"#],
            after: [
                #"{"_id": 1, "items": [{"price": 1}, {"price": 2}], "visits": 5, "total": 3, "_counted": true}"#
            ]),
    ]
}
