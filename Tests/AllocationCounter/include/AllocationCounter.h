#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

/// The number of allocations that the calling thread has made so far, and the sum of their bytes.
unsigned long countedAllocations(void);
unsigned long countedBytes(void);

#endif
