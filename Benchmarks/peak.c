/* Runs a command and writes the most memory that it ever held resident, in KiB, to a file:
 *   peak FILE COMMAND [ARGUMENT...]
 * A small process of its own, because a child starts with what its parent held. Ends with the command's status. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
   if (argc < 3) {
      fprintf (stderr, "usage: peak FILE COMMAND [ARGUMENT...]\n");
      return 64;
   }
   pid_t child = fork ();
   if (child == 0) {
      execvp (argv[2], argv + 2);
      perror (argv[2]);
      _exit (127);
   }
   int status;
   struct rusage usage;
   if (child < 0 || wait4 (child, &status, 0, &usage) < 0) {
      perror ("peak");
      return 70;
   }
   FILE *file = fopen (argv[1], "w");
   if (!file || fprintf (file, "%ld\n", usage.ru_maxrss) < 0 || fclose (file) != 0) {
      perror (argv[1]);
      return 73;
   }
   return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}
