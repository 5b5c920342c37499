#ifndef SHIPSHAPE_CPCRE2_H
#define SHIPSHAPE_CPCRE2_H

// The library has one set of functions per width of a code unit; BSON's strings are bytes.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
