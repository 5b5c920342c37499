/* A slow link to a server, in user space:
 *   proxy PORT MILLISECONDS MEGABITS
 * Listens on 127.0.0.1, prints its port, and passes every connection on to 127.0.0.1:PORT. Each direction is one line
 * that all connections share: MEGABITS million bits per second, and MILLISECONDS on the way, so that a round trip takes
 * twice as long. A line has no slow start, no loss and no headers. Ends with its standard input, or at a signal. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 16 * 1024, PIECES = 64, CONNECTIONS = 64 };

/* Bytes on their way, and the time at which they arrive. */
typedef struct {
   double arrival;
   size_t length, sent;
   char bytes[PIECE];
} piece_t;

/* One direction of a connection: a ring of pieces, as many as a socket's buffer would hold. */
typedef struct {
   piece_t pieces[PIECES];
   unsigned first, count;
   bool is_ended, is_shut;
} way_t;

/* ends[0] is the client's socket, and ends[1] the server's. ways[0] leads from the client to the server. */
typedef struct {
   int ends[2];
   way_t ways[2];
} connection_t;

static connection_t *connections[CONNECTIONS];
/* The time at which each direction's line is free again. */
static double line_free[2];
static double delay, bytes_per_second;
/* The bytes that wait for a line, in seconds. More stay with their sender, so that no answer has to wait for them. */
static const double queue = 0.01;
/* The next connection to read from, so that all connections have their turn. */
static int first_served;

static double
now (void)
{
   struct timespec time;
   clock_gettime (CLOCK_MONOTONIC, &time);
   return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void
fail (const char *what)
{
   perror (what);
   exit (69);
}

static int
server_socket (struct sockaddr_in *address)
{
   int listener = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
   socklen_t length = sizeof *address;
   if (listener < 0 || bind (listener, (struct sockaddr *) address, length) < 0 || listen (listener, 64) < 0 ||
       getsockname (listener, (struct sockaddr *) address, &length) < 0) {
      fail ("proxy: listen");
   }
   return listener;
}

static void
take (int listener, const struct sockaddr_in *server)
{
   int client = accept4 (listener, NULL, NULL, SOCK_NONBLOCK), one = 1;
   if (client < 0) {
      return;
   }
   int other = socket (AF_INET, SOCK_STREAM, 0), index = 0;
   while (index < CONNECTIONS && connections[index]) {
      index++;
   }
   connection_t *connection = index < CONNECTIONS ? calloc (1, sizeof *connection) : NULL;
   if (!connection || other < 0 || connect (other, (const struct sockaddr *) server, sizeof *server) < 0) {
      close (client);
      if (other >= 0) {
         close (other);
      }
      free (connection);
      return;
   }
   int ends[2] = {client, other};
   for (int end = 0; end < 2; end++) {
      setsockopt (ends[end], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      connection->ends[end] = ends[end];
   }
   connections[index] = connection;
}

/* Reads bytes from an end, and computes when they arrive: after all bytes that the line already has. Returns false if
 * the end is broken. */
static bool
receive (connection_t *connection, int direction, double time)
{
   way_t *way = &connection->ways[direction];
   piece_t *piece = &way->pieces[(way->first + way->count) % PIECES];
   ssize_t length = recv (connection->ends[direction], piece->bytes, PIECE, MSG_DONTWAIT);
   if (length < 0) {
      return errno == EAGAIN || errno == EINTR;
   }
   double start = line_free[direction] > time ? line_free[direction] : time;
   line_free[direction] = start + (double) length / bytes_per_second;
   piece->arrival = line_free[direction] + delay;
   piece->length = (size_t) length;
   piece->sent = 0;
   way->count++;
   way->is_ended = length == 0;
   return true;
}

/* Passes on the bytes that have arrived. Returns false if the end is broken. */
static bool
deliver (connection_t *connection, int direction, double time)
{
   way_t *way = &connection->ways[direction];
   while (way->count && way->pieces[way->first].arrival <= time) {
      piece_t *piece = &way->pieces[way->first];
      if (piece->length == 0) {
         way->is_shut = true;
         shutdown (connection->ends[!direction], SHUT_WR);
      } else {
         ssize_t sent = send (connection->ends[!direction], piece->bytes + piece->sent, piece->length - piece->sent,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
         if (sent < 0) {
            return errno == EAGAIN || errno == EINTR;
         }
         piece->sent += (size_t) sent;
         if (piece->sent < piece->length) {
            return true;
         }
      }
      way->first = (way->first + 1) % PIECES;
      way->count--;
   }
   return true;
}

static void
end (int index)
{
   close (connections[index]->ends[0]);
   close (connections[index]->ends[1]);
   free (connections[index]);
   connections[index] = NULL;
}

/* Waits for the next byte or the next arrival, and then reads or passes on bytes. */
static void
turn (int listener, const struct sockaddr_in *server)
{
   struct pollfd polls[2 + 2 * CONNECTIONS] = {{0, POLLIN, 0}, {listener, POLLIN, 0}};
   double time = now (), next = time + 60;
   for (int index = 0; index < CONNECTIONS; index++) {
      for (int direction = 0; direction < 2; direction++) {
         struct pollfd *poll = &polls[2 + 2 * index + direction];
         poll->fd = -1;
         if (!connections[index]) {
            continue;
         }
         way_t *way = &connections[index]->ways[direction], *back = &connections[index]->ways[!direction];
         if (!way->is_ended && way->count < PIECES) {
            double room = line_free[direction] - queue;
            if (room <= time) {
               poll->events |= POLLIN;
            } else if (room < next) {
               next = room;
            }
         }
         if (back->count && back->pieces[back->first].arrival <= time) {
            poll->events |= POLLOUT;
         }
         /* Without events, poll would still report an end that hung up, again and again. */
         poll->fd = poll->events ? connections[index]->ends[direction] : -1;
         if (way->count && way->pieces[way->first].arrival > time && way->pieces[way->first].arrival < next) {
            next = way->pieces[way->first].arrival;
         }
      }
   }
   double wait = next - time;
   struct timespec limit = {(time_t) wait, (long) ((wait - (double) (time_t) wait) * 1e9)};
   if (ppoll (polls, 2 + 2 * CONNECTIONS, &limit, NULL) < 0 && errno != EINTR) {
      fail ("proxy: poll");
   }
   char nothing[64];
   if (polls[0].revents && read (0, nothing, sizeof nothing) <= 0) {
      exit (0);
   }
   time = now ();
   int first = first_served;
   for (int served = 0; served < CONNECTIONS; served++) {
      int index = (first + served) % CONNECTIONS;
      bool is_fine = connections[index] != NULL;
      for (int direction = 0; direction < 2 && is_fine; direction++) {
         if (polls[2 + 2 * index + direction].revents & (POLLIN | POLLHUP | POLLERR) &&
             polls[2 + 2 * index + direction].events & POLLIN && line_free[direction] - queue <= time) {
            is_fine = receive (connections[index], direction, time);
            first_served = (index + 1) % CONNECTIONS;
         }
         is_fine = is_fine && deliver (connections[index], direction, time);
      }
      if (connections[index] && (!is_fine || (connections[index]->ways[0].is_shut && connections[index]->ways[1].is_shut))) {
         end (index);
      }
   }
   if (polls[1].revents) {
      take (listener, server);
   }
}

int
main (int argc, char **argv)
{
   if (argc != 4) {
      fprintf (stderr, "usage: proxy PORT MILLISECONDS MEGABITS\n");
      return 64;
   }
   delay = atof (argv[2]) / 1e3;
   bytes_per_second = atof (argv[3]) * 1e6 / 8;
   struct sockaddr_in server = {.sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK)}, own = server;
   server.sin_port = htons ((unsigned short) atoi (argv[1]));
   int listener = server_socket (&own);
   printf ("%d\n", ntohs (own.sin_port));
   fflush (stdout);
   for (;;) {
      turn (listener, &server);
   }
}
