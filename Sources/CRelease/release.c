#include "release.h"

// C, because only its compiler takes a text from the manifest.
#ifndef SHIPSHAPE_COMMIT
#define SHIPSHAPE_COMMIT ""
#endif

const char *shipshape_commit(void) { return SHIPSHAPE_COMMIT; }
