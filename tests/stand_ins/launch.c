/* A driver's functions for loading and launching one kernel, done by this processor: it checks
 * what it is given as a driver would, and doubles the numbers. No device is claimed by it. */
#include <stdlib.h>
#include <string.h>

static int initialised, current;
static float *memory;
static size_t size;

int firstlight_stand_in = 1;

int cuInit(unsigned flags) { initialised = flags == 0; return initialised ? 0 : 1; }
int cuDeviceGet(int *device, int ordinal) { *device = 7; return ordinal == 0 ? 0 : 101; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &current;
  return device == 7 ? 0 : 101;
}
int cuCtxSetCurrent(void *context) { current = context == &current; return current ? 0 : 201; }
int cuModuleLoadData(void **module, const void *image) {
  *module = &memory;
  return initialised && current && memcmp(image, "image\0rest", 10) == 0 ? 0 : 200;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = &size;
  return module == &memory && strcmp(name, "twice") == 0 ? 0 : 500;
}
int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes) {
  memory = calloc(1, size = bytes);
  *pointer = (unsigned long long)memory;
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long there, const void *here, size_t bytes) {
  if (there != (unsigned long long)memory || bytes != size) return 1;
  memcpy(memory, here, bytes);
  return 0;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra) {
  float *values = *(float **)arguments[0];
  int count = *(int *)arguments[1];
  if (function != &size || gy != 1 || gz != 1 || by != 1 || bz != 1 || shared || stream || extra)
    return 1;
  if (values != memory || (size_t)count * sizeof(float) != size || gx * bx < (unsigned)count)
    return 1;
  for (int i = 0; i < count; ++i) values[i] *= 2;
  return 0;
}
int cuCtxSynchronize(void) { return 0; }
int cuMemcpyDtoH_v2(void *here, unsigned long long there, size_t bytes) {
  if (there != (unsigned long long)memory) return 1;
  memcpy(here, memory, bytes);
  return 0;
}
