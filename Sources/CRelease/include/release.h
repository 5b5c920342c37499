/// The commit that the program was built from; empty unless `scripts/package` built it.
const char *shipshape_commit(void);
