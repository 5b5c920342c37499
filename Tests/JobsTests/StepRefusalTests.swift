import JobsSupport
import Testing

@testable import Jobs

/// Tests the errors in the steps of a job file, with their lines and columns.
@Suite struct StepRefusalTests {
    @Test(arguments: keys + paths + texts + order) func isRefused(_ refusal: JobRefusal) {
        let error = Fixture.failure { try StepOrder.check(JobFile.parse(refusal.text, path: "j.yml").steps) }
        #expect(error?.hasPrefix(refusal.error) == true, "\(error ?? "nothing is refused")")
    }

    private static let keys: [JobRefusal] = [
        JobRefusal(
            steps: "[copy: {from: a, to: b, whenPresent: replce}]",
            "3:45: \"whenPresent\" must be keep, replace, report or refresh (did you mean \"replace\"?)"),
        JobRefusal(steps: "[convert: {field: a, to: int, default: 1}]", "3:47: \"default\" needs \"onError: default\""),
        JobRefusal(steps: "[convert: {field: a, to: int, onError: default}]", "3:18: \"convert\" needs \"default\""),
        JobRefusal(
            steps: "[convert: {field: a, to: int, onError: default, default: x}]",
            "3:65: \"default\" has type string, but the field is converted to int"),
        JobRefusal(steps: "[convert: {field: a, to: bool, unit: seconds}]", "3:45: \"unit\" is for dates"),
        JobRefusal(
            steps: "[convert: {field: a, to: long, keep: [int, uuid]}]",
            "3:51: \"keep\" cannot name the type \"uuid\"; types: string, int, long"),
        JobRefusal(
            steps: "[convert: {field: a, to: long, into: b, keep: [int]}]",
            "3:54: \"keep\" is for a conversion in place"),
        JobRefusal(
            steps: "[convert: {field: a, to: uuid, keep: [string]}]", "3:45: \"keep\" cannot be used with a uuid"),
        JobRefusal(steps: "[combine: {into: a, template: b}]", "3:38: \"template\" names no field in braces"),
        JobRefusal(steps: "[combine: {into: a, template: '{b'}]", "3:38: \"template\": a \"{\" opens a field's name"),
        JobRefusal(steps: "[combine: {into: a, template: '{a}'}]", "3:38: \"a\" and \"a\" overlap"),
        JobRefusal(steps: "[split: {field: a, by: x, into: [b]}]", "3:40: \"into\" must name at least two fields"),
        JobRefusal(steps: "[split: {field: a, into: [b, c]}]", "3:16: \"split\" needs either \"by\""),
        JobRefusal(
            steps: "[split: {field: a, regex: '(x)', into: {b: c}}]", "3:34: \"regex\" must have a named group"),
        JobRefusal(
            steps: "[split: {field: a, regex: '(?<x>.)(?<y>.)', into: {x: b, y: c}}]",
            "3:16: \"split\" by a regex needs \"join\""),
        JobRefusal(steps: "[wrap: {field: a, under: b.c}]", "3:33: \"under\" must be a field's name"),
        JobRefusal(
            steps: "[map: {field: a, values: {1: 2, 2: 3}}]",
            "3:33: an entry leads to a value that another entry maps on"),
        JobRefusal(
            steps: "[map: {field: a, into: b, values: [{missing: true, to: 1}], remove: true}]",
            "3:76: a removed field is missing, and the table has an entry for that"),
        JobRefusal(
            steps: "[combine: {into: a, template: '{b}', remove: true, whenPresent: refresh}]",
            "3:53: \"refresh\" follows fields that stay"),
        JobRefusal(
            steps: "[convert: {field: _id, to: string, into: a, remove: true}]", "3:18: \"remove\" cannot be for _id"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, into: b, onError: null, remove: true}]",
            "3:70: \"remove\" would lose"),
        JobRefusal(steps: "[convert: {field: _id, to: string}]", "3:26: \"field\" cannot be _id in place"),
        JobRefusal(steps: "[map: {field: a, values: [{type: nmber, to: 1}]}]", "3:41: \"nmber\" is no type of a value"),
        JobRefusal(steps: "[convert: {field: a, to: date, format: '%B'}]", "3:47: \"format\" has %B"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, format: '1,234'}]",
            "3:46: \"format\" is the number 1234.56 as the texts spell it, such as \"1,234.56\""),
        JobRefusal(
            steps: "[convert: {field: a, to: int, format: '1,234,56'}]", "3:46: \"format\" is the number 1234.56"),
        JobRefusal(
            steps: "[convert: {field: a, to: bool, format: '1,234.56'}]",
            "3:47: \"format\" is for texts that become dates or numbers"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, zone: UTC}]", "3:44: \"zone\" is for texts that become dates"),
        JobRefusal(
            steps: "[{default: {field: a, value: 1}, once: b}]",
            "3:47: \"once\" stands beside \"cases\", or is a key of \"default\" itself"),
        JobRefusal(
            steps: "[{cases: [{default: {field: a, value: 1}}], once: a}]",
            "3:58: \"once\" must be a field of its own"),
        JobRefusal(steps: "[dedupe: {field: a, keep: last}]", "3:34: \"keep\" needs \"by: FIELD\""),
        JobRefusal(steps: "[map: {field: a, values: {1: 1.0}}]", "3:34: an entry maps a value to itself"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, into: ~}]",
            "3:44: \"into\" must be a text, but ~ is YAML's null: put a text in quotation marks"),
        JobRefusal(steps: "[copy: {from: null, to: b}]", "3:22: \"from\" must be a text, but null is YAML's null"),
        JobRefusal(steps: "[embed: {field: a, from: Null}]", "3:33: \"from\" must be a text, but Null is YAML's null"),
        JobRefusal(
            steps: "[expression: {field: a, value: {$size: {$objectToArray: $$CURRENT}}}]",
            "3:64: an expression cannot use $$CURRENT as a whole"),
        JobRefusal(
            steps: "[expression: {field: a, value: 1, when: {$eq: [$$CURRENT, {}]}}]",
            "3:55: an expression cannot use $$CURRENT as a whole"),
        JobRefusal(
            steps: "[expression: {field: a, value: {$function: {}}}]", "3:40: an expression cannot use $function"),
        JobRefusal(steps: "[expression: {field: a, value: {$rand: {}}}]", "3:40: an expression cannot use $rand"),
        JobRefusal(
            steps: "[expression: {field: a, value: 1, once: a}]", "3:48: \"once\" must be a field of its own"),
        JobRefusal(
            steps: "[expression: {field: a, value: 1, once: b.c}]",
            "3:48: \"once\" must be a field of the document itself"),
    ]

    private static let paths: [JobRefusal] = [
        JobRefusal(steps: "[unset: {field: 'a.[]'}]", "3:24: \"field\": an element of a list is never missing"),
        JobRefusal(steps: "[unset: {field: '[].a'}]", "3:24: \"field\": \"[].a\" must begin with a field's name"),
        JobRefusal(
            steps: "[copy: {from: 'a.[].b', to: c}]", "3:36: \"a[].b\" and \"c\" are not in the same element"),
        JobRefusal(steps: "[unset: {field: 'a.*'}]", "3:24: \"field\": * stands for no field"),
        JobRefusal(steps: "[unset: {field: 'a.**.tmp'}]", "3:24: \"field\": ** stands for no field here"),
        JobRefusal(steps: "[wrap: {field: '**.tmp'}]", "3:23: \"field\": ** stands for no field here"),
        JobRefusal(steps: "[unset: {field: '**'}]", "3:24: \"**\" is every field: name a field after it"),
        JobRefusal(steps: "[convert: {field: '**', to: int}]", "3:18: \"**\" is every field: name a field after it"),
        JobRefusal(
            steps: "[convert: {field: '**.a', to: int, into: b}]", "3:26: \"field\": ** stands for no field here"),
        JobRefusal(
            steps: "[convert: {field: a, to: int, from: date}]",
            "3:44: \"from\" cannot be date: int is made from string, long, double, decimal, bool"),
        JobRefusal(steps: "[default: {field: 'a.[]', value: 1}]", "3:18: an element of a list is never missing"),
        JobRefusal(
            steps: "[default: {field: 'a.[]', generate: uuid}]",
            "3:26: \"field\": an element of a list is never missing"),
        JobRefusal(steps: "[rename: {fields: {a: b}, from: c}]", "3:40: give either \"fields\" or one pair"),
        JobRefusal(
            steps: "[cases: [{unset: {field: a}}, {wrap: {field: a}}]]", "3:38: this case never applies"),
        JobRefusal(
            steps: "[cases: [{where: {a: 1}, unset: {field: a}}, {wrap: {field: b}}]]",
            "3:53: all cases write one field: \"a\", not \"b\""),
        JobRefusal(steps: "[cases: [{unset: {field: '**.a'}}]]", "3:17: all cases write one field: name it, without"),
        JobRefusal(
            steps: "[cases: [{unset: {field: a.n}}]]", "3:17: a case can unset a field of the document itself"),
        JobRefusal(
            steps: "[cases: [{default: {field: a, generate: uuid}}]]", "3:17: a case is a step that the server computes"
        ),
    ]

    private static let texts: [JobRefusal] = [
        JobRefusal(
            steps: "[default: {field: a, value: '$b'}]",
            "3:36: \"$b\" would be written as this text: a step \"expression\" or \"copy\" takes values of fields"),
        JobRefusal(
            steps: "[default: {field: a, value: '$now'}]",
            "3:36: \"$now\" would be written as this text: without quotation marks, it is the time of the job's start"),
        JobRefusal(
            steps: "\n- unset: {field: a}\n  where: {b: /abc/}", "5:14: /abc/ is no pattern here, but a text"),
    ]

    private static let order: [JobRefusal] = [
        JobRefusal(
            steps: "\n- unset: {field: a}\n- copy: {from: a.b, to: c}",
            "5:3: \"a.b\" is read after the step in line 4 has removed it: put this step first"),
        JobRefusal(
            steps: "\n- rename: {from: a, to: b}\n- default: {field: a, value: 1}",
            "5:3: \"a\" is written after the step in line 4 has removed it: the job would never end"),
        JobRefusal(
            steps: "\n- combine: {into: c, template: '{a}{b}'}\n- wrap: {field: a}",
            "5:3: \"a\" is changed in place after another step has read it: put this step first"),
        JobRefusal(
            steps: "\n- default: {field: b, value: 1}\n- rename: {from: a, to: b}",
            "5:3: \"b\" is filled by the default in line 4"),
    ]
}
