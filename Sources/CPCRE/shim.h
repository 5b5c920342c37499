#ifndef SHIPSHAPE_CPCRE_H
#define SHIPSHAPE_CPCRE_H

#include <pcre.h>

// Swift has no function pointers that are variables: what pcre_compile2 gave is freed here.
static inline void cpcre_free(void *code) { pcre_free(code); }

#endif
