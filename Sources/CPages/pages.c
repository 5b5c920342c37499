#include "pages.h"

// C, because only its compiler takes the bytes of a file outside of the target, and compiles again when they change.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char rules[] = {
#embed "../../docs/reference/rules.md"
};

static const unsigned char exit_codes[] = {
#embed "../../docs/reference/exit-codes.md"
};

static const unsigned char recipes[] = {
#embed "../../docs/guide/recipes.md"
};

static const unsigned char keyword_cases[] = {
#embed "../../Tests/Conformance/Fixtures/keywords.jsonl"
};

struct shipshape_page shipshape_rules(void) { return (struct shipshape_page){rules, sizeof rules}; }

struct shipshape_page shipshape_exit_codes(void) { return (struct shipshape_page){exit_codes, sizeof exit_codes}; }

struct shipshape_page shipshape_recipes(void) { return (struct shipshape_page){recipes, sizeof recipes}; }

struct shipshape_page shipshape_keyword_cases(void) {
    return (struct shipshape_page){keyword_cases, sizeof keyword_cases};
}
