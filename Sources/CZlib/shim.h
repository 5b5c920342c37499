#ifndef SHIPSHAPE_CZLIB_SHIM_H
#define SHIPSHAPE_CZLIB_SHIM_H

#include <zlib.h>

// inflateInit2 is a macro, which Swift does not see. The window bits 15 + 16 mean gzip, and nothing else.
static inline int
czlib_inflate_gzip (z_stream *stream)
{
   return inflateInit2 (stream, 15 + 16);
}

#endif
