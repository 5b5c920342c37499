#include <stddef.h>

/// The bytes of a page of the documentation, which the program carries with it.
struct shipshape_page {
    const unsigned char *bytes;
    size_t size;
};

/// The page `docs/reference/rules.md`.
struct shipshape_page shipshape_rules(void);

/// The page `docs/reference/exit-codes.md`.
struct shipshape_page shipshape_exit_codes(void);

/// The page `docs/guide/recipes.md`.
struct shipshape_page shipshape_recipes(void);

/// The schemas and documents of the tests of the dialect `jsonschema`, one case on each line.
struct shipshape_page shipshape_keyword_cases(void);
