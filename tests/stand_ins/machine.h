/* What every stand-in library shares: the machine's description and the faults asked for.

   The file named in FIRSTLIGHT_STAND_IN holds one `key = value` a line, `#` starts a comment.
   A key of a device is looked up as `gpu.3.name`, then as `gpu.*.name`; a key that is not there
   makes the call answer "not supported", as the real libraries do. Faults:
       fault.<call>   = hang | spin | crash | abort | exit | <code>     for every device
       fault.<call>.3 = ...                                            for device 3 only
       gpu.3.lost     = 15                                             every call on device 3
       gpu.3.lost_after = 12                                           from its 13th call on
   Including this file makes a library a stand-in: it exports `firstlight_stand_in`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned int U;
typedef unsigned long long U64;
typedef struct { char *key, *value; } Line;

int firstlight_stand_in = 1;
static Line *lines;
static size_t line_count;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

static char *trimmed(char *text) {
  while (*text == ' ' || *text == '\t') text++;
  char *end = text + strlen(text);
  while (end > text && strchr(" \t\r\n", end[-1])) *--end = 0;
  return text;
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const Line *)a)->key, ((const Line *)b)->key);
}

static void load(void) {
  const char *path = getenv("FIRSTLIGHT_STAND_IN");
  FILE *file = path ? fopen(path, "r") : NULL;
  char *text = NULL;
  size_t size = 0, room = 0;
  if (!file) return;
  while (getline(&text, &size, file) >= 0) {
    char *equals = strchr(text, '=');
    if (*trimmed(text) == '#' || !equals) continue;
    *equals = 0;
    if (line_count == room) lines = realloc(lines, (room = room * 2 + 64) * sizeof *lines);
    lines[line_count].key = strdup(trimmed(text));
    lines[line_count++].value = strdup(trimmed(equals + 1));
  }
  free(text);
  fclose(file);
  qsort(lines, line_count, sizeof *lines, by_key);
}

static const char *value_of(const char *key) {
  pthread_once(&loaded, load);
  Line wanted = {(char *)key, NULL};
  Line *found = line_count ? bsearch(&wanted, lines, line_count, sizeof *lines, by_key) : NULL;
  return found ? found->value : NULL;
}

/* The value of a device's key; `kind` is gpu, cuda, amd or hip. */
static const char *device_value(const char *kind, int device, const char *name) {
  char key[160];
  snprintf(key, sizeof key, "%s.%d.%s", kind, device, name);
  const char *value = value_of(key);
  if (value) return value;
  snprintf(key, sizeof key, "%s.*.%s", kind, name);
  return value_of(key);
}

/* Number `which` (from 0) of a value such as "1 0"; 0 if it is there. */
static int number_in(const char *value, int which, U64 *number) {
  if (!value) return -1;
  for (char *end;; value = end) {
    *number = *value == '-' ? (U64)strtoll(value, &end, 0) : strtoull(value, &end, 0);
    if (end == value) return -1;
    if (!which--) return 0;
  }
}

static long setting(const char *key, long otherwise) {
  U64 number;
  return number_in(value_of(key), 0, &number) ? otherwise : (long)number;
}

static int struck(const char *fault) {
  if (!strcmp(fault, "hang")) for (;;) pause();
  if (!strcmp(fault, "spin")) for (volatile int still = 1; still;);
  if (!strcmp(fault, "crash")) *(volatile int *)8 = 1;
  if (!strcmp(fault, "abort")) abort();
  if (!strcmp(fault, "exit")) _exit(3);
  return atoi(fault);
}

/* The code that a call must fail with by the file's faults, 0 if it may answer. */
static int fault_of(const char *kind, const char *call, int device) {
  static U calls[1024];
  char key[160];
  U64 number;
  snprintf(key, sizeof key, "fault.%s.%d", call, device);
  const char *fault = value_of(key);
  if (!fault) {
    snprintf(key, sizeof key, "fault.%s", call);
    fault = value_of(key);
  }
  if (fault) return struck(fault);
  if (device < 0) return 0;
  if (!number_in(device_value(kind, device, "lost"), 0, &number)) return (int)number;
  if (device < 1024 && !number_in(device_value(kind, device, "lost_after"), 0, &number))
    if (calls[device]++ >= number) return 15;
  return 0;
}
