/* Stand-in for libamdhip64.so (linked as .so.6 and .so.7 too), for programs that call HIP
   themselves. Keys: hip.init, hip.version, hip.count, hip.<index>.{name,pci,memory_total,
   attribute.<number>,corrupt_copy}; faults as in machine.h. */
#include "machine.h"

typedef int R;
enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101 };
static int current;

static const struct { R code; const char *name, *text; } errors[] = {
  {0, "hipSuccess", "no error"},
  {1, "hipErrorInvalidValue", "invalid argument"},
  {2, "hipErrorOutOfMemory", "out of memory"},
  {3, "hipErrorNotInitialized", "initialization error"},
  {35, "hipErrorInsufficientDriver", "driver version is insufficient for runtime version"},
  {100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
  {101, "hipErrorInvalidDevice", "invalid device ordinal"},
  {719, "hipErrorLaunchFailure", "unspecified launch failure"},
  {999, "hipErrorUnknown", "unknown error"}};
const char *hipGetErrorName(R code) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].code == code) return errors[i].name;
  return "hipErrorUnknown";
}
const char *hipGetErrorString(R code) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].code == code) return errors[i].text;
  return "unknown error";
}

#define FAULT(call, d) { R code = fault_of("hip", call, d); if (code) return code; }
#define DEVICE(call, d) { FAULT(call, d) if ((d) < 0 || (d) >= setting("hip.count", 0)) return INVALID_DEVICE; }

R hipInit(U flags) { FAULT("hipInit", -1) return flags ? INVALID_VALUE : (R)setting("hip.init", NO_DEVICE); }
R hipDriverGetVersion(int *out) { FAULT("hipDriverGetVersion", -1) *out = (int)setting("hip.version", 60443483); return 0; }
R hipRuntimeGetVersion(int *out) { FAULT("hipRuntimeGetVersion", -1) *out = (int)setting("hip.version", 60443483); return 0; }
R hipGetDeviceCount(int *out) { FAULT("hipGetDeviceCount", -1) *out = (int)setting("hip.count", 0); return *out ? 0 : NO_DEVICE; }
R hipDeviceGetName(char *out, int size, int d) {
  DEVICE("hipDeviceGetName", d)
  const char *found = device_value("hip", d, "name");
  snprintf(out, (size_t)size, "%s", found ? found : "");
  return 0;
}
R hipDeviceGetPCIBusId(char *out, int size, int d) {
  DEVICE("hipDeviceGetPCIBusId", d)
  const char *found = device_value("hip", d, "pci");
  snprintf(out, (size_t)size, "%s", found ? found : "");
  return 0;
}
R hipDeviceGetAttribute(int *out, int which, int d) {
  char key[40];
  U64 found;
  DEVICE("hipDeviceGetAttribute", d)
  snprintf(key, sizeof key, "attribute.%d", which);
  if (number_in(device_value("hip", d, key), 0, &found)) return INVALID_VALUE;
  *out = (int)found;
  return 0;
}
R hipDeviceTotalMem(size_t *out, int d) {
  U64 found = 0;
  DEVICE("hipDeviceTotalMem", d)
  number_in(device_value("hip", d, "memory_total"), 0, &found);
  *out = found;
  return 0;
}
R hipSetDevice(int d) { DEVICE("hipSetDevice", d) current = d; return 0; }
R hipMalloc(void **out, size_t size) { FAULT("hipMalloc", current) *out = malloc(size); return 0; }
R hipFree(void *p) { FAULT("hipFree", current) free(p); return 0; }
R hipDeviceSynchronize(void) { FAULT("hipDeviceSynchronize", current) return 0; }
R hipMemcpy(void *to, const void *from, size_t size, int kind) {
  FAULT("hipMemcpy", current)
  memcpy(to, from, size);
  if (kind == 2 && device_value("hip", current, "corrupt_copy")) ((char *)to)[size / 2] ^= 4;
  return 0;
}
