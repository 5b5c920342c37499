/// The test cases for the jobs of `jobs/examples` whose steps the client computes.
enum ClientReadyJobs {
    static let cases = [
        ReadyJobCase(
            "embed",
            before: [
                (
                    "Person",
                    [#"{"_id": 1, "dog": "rex"}"#, #"{"_id": 2, "dog": ["ada"]}"#, #"{"_id": 3, "dog": null}"#]
                ),
                ("Dog", [#"{"_id": "rex", "name": "Rex", "chip": 1}"#, #"{"_id": "ada", "name": "Ada"}"#]),
            ],
            after: [
                #"{"_id": 1, "dog": {"name": "Rex"}}"#, #"{"_id": 2, "dog": [{"name": "Ada"}]}"#,
                #"{"_id": 3, "dog": null}"#,
            ]),
        ReadyJobCase(
            "extract",
            before: [#"{"_id": 1, "home": {"number": "B7", "city": "Bern"}}"#, #"{"_id": 2}"#],
            after: [#"{"_id": 1, "home": "B7"}"#, #"{"_id": 2}"#]),
    ]
}
