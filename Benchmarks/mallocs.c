/* Counts the allocations of a process: LD_PRELOAD=mallocs.so COMMAND prints "N mallocs" to standard error at its end.
   If a process finds shipshape_mallocs by dlsym, it reads the count itself, and nothing is printed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ulong count;
static void *(*next_malloc) (size_t);
static void *(*next_calloc) (size_t, size_t);
static void *(*next_realloc) (void *, size_t);
static int (*next_memalign) (void **, size_t, size_t);
static void *(*next_aligned) (size_t, size_t);
static atomic_bool is_asked;

/* Memory for dlsym, which may itself call calloc before the real calloc is known. */
static char early[4096];
static size_t early_used;
static int is_searching;

static void *
early_alloc (size_t size)
{
   size_t start = (early_used + 15) & ~(size_t) 15;
   early_used = start + size;
   return early_used <= sizeof early ? early + start : NULL;
}

__attribute__ ((destructor)) static void
report (void)
{
   if (!atomic_load (&is_asked)) {
      fprintf (stderr, "%lu mallocs\n", atomic_load (&count));
   }
}

unsigned long
shipshape_mallocs (void)
{
   atomic_store (&is_asked, true);
   return atomic_load (&count);
}

void *
malloc (size_t size)
{
   if (!next_malloc) {
      next_malloc = dlsym (RTLD_NEXT, "malloc");
   }
   atomic_fetch_add (&count, 1);
   return next_malloc (size);
}

void *
calloc (size_t number, size_t size)
{
   if (!next_calloc) {
      if (is_searching) {
         return early_alloc (number * size);
      }
      is_searching = 1;
      next_calloc = dlsym (RTLD_NEXT, "calloc");
      is_searching = 0;
   }
   atomic_fetch_add (&count, 1);
   return next_calloc (number, size);
}

void *
realloc (void *pointer, size_t size)
{
   if (!next_realloc) {
      next_realloc = dlsym (RTLD_NEXT, "realloc");
   }
   atomic_fetch_add (&count, 1);
   return next_realloc (pointer, size);
}

int
posix_memalign (void **pointer, size_t alignment, size_t size)
{
   if (!next_memalign) {
      next_memalign = dlsym (RTLD_NEXT, "posix_memalign");
   }
   atomic_fetch_add (&count, 1);
   return next_memalign (pointer, alignment, size);
}

void *
aligned_alloc (size_t alignment, size_t size)
{
   if (!next_aligned) {
      next_aligned = dlsym (RTLD_NEXT, "aligned_alloc");
   }
   atomic_fetch_add (&count, 1);
   return next_aligned (alignment, size);
}
