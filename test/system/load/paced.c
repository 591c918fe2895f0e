/*
 * The sender of paced.ts: sends prepared requests at a fixed rate, however long the answers take.
 * It costs little more than its system calls, so that the load leaves the processors to the node.
 *
 *   paced PORT CONNECTIONS PER-SECOND MILLISECONDS TICK-MICROSECONDS
 *
 * It looks once a tick for what is due and what was answered, so that many answers cost one look.
 * With a tick of 0 it sleeps until something happens, which costs a client of few requests less.
 *
 * stdin: requests, each behind its length (32 bits, little-endian). They are taken as they are
 * needed. stdout: one line of JSON, the form of `Sent` in paced.ts. A request that is
 * refused with 503 is sent again; it counts for the rate like any other.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECTIONS_MAX = 8192,
  ANSWER_MAX = 16 * 1024,
  EVENTS_MAX = 1024,
  KINDS_MAX = 16,
  /** Requests held for sending. */
  FRESH_MAX = 2 * 1024,
  AGAIN_MAX = 100 * 1000,
  /** By then all connections must be open. */
  OPEN_US = 20 * 1000 * 1000,
  /** After the last request the answers have so long. */
  LINGER_US = 20 * 1000 * 1000,
  OVERLOADED = 503,
};

struct request {
  uint32_t length;
  char bytes[];
};

enum state { CONNECTING, IDLE, WAITING };

struct line {
  int fd;
  enum state state;
  /** Has a place in the queue of idle lines, which it may have lost the right to. */
  int queued;
  struct request *request;
  uint32_t written;
  uint64_t sent_at;
  uint32_t received;
  char answer[ANSWER_MAX];
};

/** Latencies of one status, in microseconds. */
struct kind {
  int status;
  uint32_t *latencies;
  size_t count, space;
  char *sample;
};

static struct line lines[CONNECTIONS_MAX];
static struct kind kinds[KINDS_MAX];
static int kind_count;

/** Rings: the longest idle line is used first, since a node ends idle connections. */
static uint32_t idle[CONNECTIONS_MAX];
static uint64_t idle_from, idle_to;
static struct request *fresh[FRESH_MAX];
static uint64_t fresh_from, fresh_to;
static struct request *again[AGAIN_MAX];
static size_t again_count;

static char input[256 * 1024];
static size_t input_length;
static int is_input_open = 1, is_input_watched;

static int epoll, port;
static uint32_t connections, opened;
static uint64_t under, lost, late;

/** A call of the system has failed. */
static void fail(const char *what) {
  perror(what);
  exit(1);
}

/** The other side has done what cannot be measured. */
static void give_up(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static uint64_t now_us(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000 + (uint64_t)at.tv_nsec / 1000;
}

static void *allocated(void *memory) {
  if (memory == NULL) fail("memory");
  return memory;
}

static void watch(int operation, int fd, uint32_t events, uint32_t id) {
  struct epoll_event event = {.events = events, .data.u32 = id};
  if (epoll_ctl(epoll, operation, fd, &event) < 0) fail("epoll_ctl");
}

static void open_line(uint32_t at) {
  struct line *line = &lines[at];
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  line->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (line->fd < 0) fail("socket");
  int yes = 1;
  setsockopt(line->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  line->state = CONNECTING;
  line->received = 0;
  if (connect(line->fd, (struct sockaddr *)&place, sizeof place) < 0 && errno != EINPROGRESS) {
    fail("connect");
  }
  watch(EPOLL_CTL_ADD, line->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP, at);
}

static void rest(uint32_t at) {
  lines[at].state = IDLE;
  if (lines[at].queued) return;
  lines[at].queued = 1;
  idle[idle_to++ % CONNECTIONS_MAX] = at;
}

static void drop(uint32_t at) {
  struct line *line = &lines[at];
  close(line->fd);
  if (line->state == WAITING) {
    under--;
    lost++;
    free(line->request);
  }
  line->request = NULL;
  line->state = CONNECTING;
  open_line(at);
}

/** The longest idle line, or -1. */
static int64_t next_idle(void) {
  while (idle_from < idle_to) {
    uint32_t at = idle[idle_from++ % CONNECTIONS_MAX];
    lines[at].queued = 0;
    if (lines[at].state == IDLE) return at;
  }
  return -1;
}

static struct request *next_request(void) {
  if (again_count > 0) return again[--again_count];
  return fresh_from < fresh_to ? fresh[fresh_from++ % FRESH_MAX] : NULL;
}

static void write_on(uint32_t at) {
  struct line *line = &lines[at];
  uint32_t left = line->request->length - line->written;
  ssize_t n = send(line->fd, line->request->bytes + line->written, left, MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN) {
    drop(at);
    return;
  }
  int was_whole = line->written == 0;
  line->written += n > 0 ? (uint32_t)n : 0;
  if (line->written < line->request->length) {
    watch(EPOLL_CTL_MOD, line->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP, at);
  } else if (!was_whole) {
    watch(EPOLL_CTL_MOD, line->fd, EPOLLIN | EPOLLRDHUP, at);
  }
}

/** False where no line is idle, or no request is left. */
static int send_next(void) {
  if (again_count == 0 && fresh_from == fresh_to) return 0;
  int64_t at = next_idle();
  if (at < 0) return 0;
  struct line *line = &lines[at];
  line->request = next_request();
  line->written = 0;
  line->received = 0;
  line->state = WAITING;
  line->sent_at = now_us();
  under++;
  write_on((uint32_t)at);
  return 1;
}

static void add(struct kind *kind, uint64_t latency) {
  if (kind->count == kind->space) {
    kind->space = kind->space == 0 ? 4096 : kind->space * 2;
    kind->latencies = allocated(realloc(kind->latencies, kind->space * sizeof(uint32_t)));
  }
  kind->latencies[kind->count++] = (uint32_t)latency;
}

static void count(int status, uint64_t latency, const struct line *line) {
  struct kind *kind = kinds;
  while (kind < kinds + kind_count && kind->status != status) kind++;
  if (kind == kinds + kind_count) {
    if (++kind_count > KINDS_MAX) give_up("too many kinds of answers");
    kind->status = status;
    kind->sample = allocated(strndup(line->answer, line->received));
  }
  add(kind, latency);
}

/** Of the answer that the line has begun to receive; 0 while it is incomplete. */
static uint32_t answer_length(const struct line *line) {
  const char *end = memmem(line->answer, line->received, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  static const char name[] = "\ncontent-length:";
  for (const char *at = line->answer; at < end; at++) {
    if (*at == '\n' && strncasecmp(at, name, sizeof name - 1) == 0) {
      uint32_t length = (uint32_t)(end + 4 - line->answer) + (uint32_t)atoi(at + sizeof name - 1);
      return length <= line->received ? length : 0;
    }
  }
  give_up("an answer without Content-Length");
  return 0;
}

static void read_on(uint32_t at) {
  struct line *line = &lines[at];
  ssize_t n = recv(line->fd, line->answer + line->received, ANSWER_MAX - 1 - line->received, 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    drop(at);
    return;
  }
  line->received += (uint32_t)n;
  line->answer[line->received] = 0;
  if (line->state != WAITING || answer_length(line) == 0) return;
  int status = atoi(line->answer + sizeof "HTTP/1.1");
  count(status, now_us() - line->sent_at, line);
  struct request *request = line->request;
  line->request = NULL;
  under--;
  if (status == OVERLOADED && again_count < AGAIN_MAX) again[again_count++] = request;
  else free(request);
  rest(at);
}

static void happened(uint32_t at, uint32_t events) {
  struct line *line = &lines[at];
  if (line->state == CONNECTING && (events & EPOLLOUT) && !(events & (EPOLLERR | EPOLLHUP))) {
    watch(EPOLL_CTL_MOD, line->fd, EPOLLIN | EPOLLRDHUP, at);
    opened++;
    rest(at);
    return;
  }
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) read_on(at);
  else if (line->state == WAITING && (events & EPOLLOUT)) write_on(at);
  /* What is sent on a connection that the server has ended gets no answer. */
  if (line->state == IDLE && (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))) drop(at);
}

static void take_requests(void) {
  size_t from = 0;
  while (input_length - from >= 4 && fresh_to - fresh_from < FRESH_MAX) {
    uint32_t length;
    memcpy(&length, input + from, 4);
    if (length > sizeof input - 4) give_up("a request is too long");
    if (input_length - from - 4 < length) break;
    struct request *request = allocated(malloc(sizeof *request + length));
    request->length = length;
    memcpy(request->bytes, input + from + 4, length);
    fresh[fresh_to++ % FRESH_MAX] = request;
    from += 4 + length;
  }
  input_length -= from;
  memmove(input, input + from, input_length);
}

static void read_input(void) {
  if (!is_input_watched) return;
  ssize_t n = read(0, input + input_length, sizeof input - input_length);
  if (n < 0 && errno == EAGAIN) return;
  if (n > 0) input_length += (size_t)n;
  else {
    is_input_open = is_input_watched = 0;
    epoll_ctl(epoll, EPOLL_CTL_DEL, 0, NULL);
  }
  take_requests();
}

/** stdin is read while less than half of the requests that may be held are there. */
static void watch_input(void) {
  int wanted = is_input_open && fresh_to - fresh_from < FRESH_MAX / 2;
  if (wanted) take_requests();
  if (wanted == is_input_watched) return;
  is_input_watched = wanted;
  watch(EPOLL_CTL_MOD, 0, wanted ? EPOLLIN : 0, CONNECTIONS_MAX);
}

/** Returns the number of events; 0 where the time is over. */
static int wait_events(int wait_ms) {
  struct epoll_event events[EVENTS_MAX];
  int n = epoll_wait(epoll, events, EVENTS_MAX, wait_ms);
  if (n < 0 && errno != EINTR) fail("epoll_wait");
  for (int i = 0; i < n; i++) {
    if (events[i].data.u32 == CONNECTIONS_MAX) read_input();
    else happened(events[i].data.u32, events[i].events);
  }
  watch_input();
  return n;
}

static void note_delay(struct kind *delays, uint64_t due) {
  uint64_t woken = now_us();
  add(delays, woken > due ? woken - due : 0);
}

static void sleep_tick(uint64_t tick, struct kind *delays) {
  uint64_t due = now_us() + tick;
  struct timespec pause = {.tv_nsec = (long)tick * 1000};
  nanosleep(&pause, NULL);
  note_delay(delays, due);
  wait_events(0);
}

/** Until something happens, or the whole milliseconds of `us` are over, of which there is at least one. */
static void sleep_until_event(double us, struct kind *delays) {
  int wait_ms = us < 1000 ? 1 : (int)(us / 1000);
  uint64_t due = now_us() + (uint64_t)wait_ms * 1000;
  int n = wait_events(wait_ms);
  /* A late one may find an answer that has come since. */
  if (n == 0 || now_us() > due) note_delay(delays, due);
}

static int by_size(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double quantile_ms(const struct kind *kind, double q) {
  if (kind->count == 0) return 0;
  size_t at = (size_t)(q * (double)kind->count);
  return kind->latencies[at < kind->count ? at : kind->count - 1] / 1000.0;
}

static void sort(struct kind *kind) {
  qsort(kind->latencies, kind->count, sizeof(uint32_t), by_size);
}

static void print_text(const char *text) {
  putchar('"');
  for (; *text != 0; text++) {
    if (*text == '"' || *text == '\\') printf("\\%c", *text);
    else if ((unsigned char)*text < ' ') printf("\\u%04x", *text);
    else putchar(*text);
  }
  putchar('"');
}

static void report(double seconds, struct kind *delays) {
  sort(delays);
  printf("{\"seconds\":%.6f,\"late\":%llu,\"lost\":%llu,\"ownDelayMs\":%.3f,\"answers\":[", seconds,
         (unsigned long long)late, (unsigned long long)lost, quantile_ms(delays, 0.99));
  for (int i = 0; i < kind_count; i++) {
    struct kind *kind = &kinds[i];
    sort(kind);
    printf("%s{\"status\":%d,\"count\":%zu,\"p50Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f", i ? "," : "",
           kind->status, kind->count, quantile_ms(kind, 0.5), quantile_ms(kind, 0.99),
           quantile_ms(kind, 1));
    if (kind->status != 200) {
      printf(",\"sample\":");
      print_text(kind->sample);
    }
    putchar('}');
  }
  printf("]}\n");
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  /* A test that is killed leaves no sender behind. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  port = atoi(argv[1]);
  connections = (uint32_t)atoi(argv[2]);
  double per_us = atof(argv[3]) / 1e6;
  uint64_t duration = strtoull(argv[4], NULL, 10) * 1000, tick = strtoull(argv[5], NULL, 10);
  if (connections > CONNECTIONS_MAX) return 2;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
  watch(EPOLL_CTL_ADD, 0, 0, CONNECTIONS_MAX);
  for (uint32_t at = 0; at < connections; at++) open_line(at);
  uint64_t until = now_us() + OPEN_US;
  while (opened < connections || (is_input_open && fresh_to == 0)) {
    if (now_us() > until) give_up("the server takes no connections, or no request came");
    watch_input();
    wait_events(100);
  }

  static struct kind delays;
  double owed = 0;
  uint64_t start = now_us(), last = start;
  for (uint64_t now = start; now < start + duration; now = now_us()) {
    owed += (double)(now - last) * per_us;
    last = now;
    while (owed >= 1 && send_next()) owed--;
    /* Without a limit on what is owed a pause would be followed by a burst. */
    if (owed > per_us * 1e5) {
      late += (uint64_t)owed;
      owed = 0;
    }
    if (tick > 0) sleep_tick(tick, &delays);
    else sleep_until_event((1 - owed) / per_us, &delays);
  }
  double seconds = (double)(now_us() - start) / 1e6;
  until = now_us() + LINGER_US;
  while (under > 0 && now_us() < until) wait_events(1);
  lost += under;
  report(seconds, &delays);
  return 0;
}
