/* Stand-in for libcuda.so.1. With `cuda.init` other than 0 the real torch over it prints its real
   text for that code (cudart asks for every function through cuGetProcAddress). With 0 only a
   program that calls the driver API itself may use it: cudart's own integrity check refuses
   substitute drivers, and what it then prints is an artefact.
   Keys: cuda.init, cuda.driver_version, cuda.count, cuda.<index>.{name,uuid,pci,memory_total,
   attribute.<number>,corrupt_copy}; faults as in machine.h. */
#include "machine.h"

typedef int R;
enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };
static int started, current = -1;

static const struct { R code; const char *name, *text; } errors[] = {
  {0, "CUDA_SUCCESS", "no error"},
  {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
  {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
  {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
  {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
  {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
  {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
  {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
  {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
  {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
  {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
  {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
  {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
  {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
  {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "MPS client failed to connect to the MPS control daemon or the MPS server"},
  {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};

R cuGetErrorName(R code, const char **out) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code) { *out = errors[i].name; return 0; }
  *out = NULL;
  return INVALID_VALUE;
}
R cuGetErrorString(R code, const char **out) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code) { *out = errors[i].text; return 0; }
  *out = NULL;
  return INVALID_VALUE;
}

#define FAULT(call, d) { R code = fault_of("cuda", call, d); if (code) return code; }
#define READY(call, d) { if (!started) return NOT_INITIALIZED; FAULT(call, d) \
  if ((d) < 0 || (d) >= setting("cuda.count", 0)) return INVALID_DEVICE; }
#define IN_CONTEXT(call) { if (current < 0) return INVALID_CONTEXT; FAULT(call, current) }

R cuInit(U flags) {
  FAULT("cuInit", -1)
  R code = (R)setting("cuda.init", 100);
  started = !code;
  return flags ? INVALID_VALUE : code;
}
R cuDriverGetVersion(int *out) { FAULT("cuDriverGetVersion", -1) *out = (int)setting("cuda.driver_version", 13000); return 0; }
R cuDeviceGetCount(int *out) {
  if (!started) return NOT_INITIALIZED;
  FAULT("cuDeviceGetCount", -1)
  *out = (int)setting("cuda.count", 0);
  return 0;
}
R cuDeviceGet(int *out, int index) { READY("cuDeviceGet", index) *out = index; return 0; }
R cuDeviceGetName(char *out, int size, int d) {
  READY("cuDeviceGetName", d)
  const char *name = device_value("cuda", d, "name");
  snprintf(out, (size_t)size, "%s", name ? name : "");
  return 0;
}
R cuDeviceGetUuid_v2(unsigned char *out, int d) {
  READY("cuDeviceGetUuid", d)
  const char *uuid = device_value("cuda", d, "uuid");
  const char *digits = uuid ? strchr(uuid, '-') : NULL;  /* after GPU- or MIG- */
  memset(out, 0, 16);
  for (int i = 0; digits && i < 16;) {
    digits += *digits == '-';
    U byte;
    if (sscanf(digits, "%2x", &byte) != 1) break;
    out[i++] = (unsigned char)byte;
    digits += 2;
  }
  return 0;
}
R cuDeviceGetUuid(unsigned char *out, int d) { return cuDeviceGetUuid_v2(out, d); }
R cuDeviceGetPCIBusId(char *out, int size, int d) {
  READY("cuDeviceGetPCIBusId", d)
  const char *pci = device_value("cuda", d, "pci");
  snprintf(out, (size_t)size, "%s", pci ? pci : "");
  return 0;
}
R cuDeviceTotalMem_v2(size_t *out, int d) {
  U64 number = 0;
  READY("cuDeviceTotalMem", d)
  number_in(device_value("cuda", d, "memory_total"), 0, &number);
  *out = number;
  return 0;
}
R cuDeviceGetAttribute(int *out, int which, int d) {
  char key[40];
  U64 number;
  READY("cuDeviceGetAttribute", d)
  snprintf(key, sizeof key, "attribute.%d", which);
  if (number_in(device_value("cuda", d, key), 0, &number)) return INVALID_VALUE;
  *out = (int)number;
  return 0;
}
R cuDevicePrimaryCtxRetain(void **out, int d) { READY("cuDevicePrimaryCtxRetain", d) *out = (void *)(intptr_t)(d + 1); return 0; }
R cuDevicePrimaryCtxRelease_v2(int d) { READY("cuDevicePrimaryCtxRelease", d) return 0; }
R cuCtxSetCurrent(void *context) { current = (int)(intptr_t)context - 1; FAULT("cuCtxSetCurrent", current) return 0; }
R cuCtxSynchronize(void) { IN_CONTEXT("cuCtxSynchronize") return 0; }
R cuMemGetInfo_v2(size_t *unused, size_t *total) {
  IN_CONTEXT("cuMemGetInfo")
  R code = cuDeviceTotalMem_v2(total, current);
  *unused = *total / 2;
  return code;
}
R cuMemAlloc_v2(uintptr_t *out, size_t size) { IN_CONTEXT("cuMemAlloc") *out = (uintptr_t)malloc(size); return 0; }
R cuMemFree_v2(uintptr_t p) { IN_CONTEXT("cuMemFree") free((void *)p); return 0; }
R cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t size) { IN_CONTEXT("cuMemcpyHtoD") memcpy((void *)to, from, size); return 0; }
R cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t size) {
  IN_CONTEXT("cuMemcpyDtoH")
  memcpy(to, (void *)from, size);
  if (device_value("cuda", current, "corrupt_copy")) ((char *)to)[size / 2] ^= 4;
  return 0;
}

/* cudart takes every function through here; what is not written above refuses like cuInit. */
static R refuse(void) { R code = (R)setting("cuda.init", 100); return code ? code : 801; }
R cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
  static void *self;
  char versioned[128];
  (void)version; (void)flags;
  if (!self) {
    Dl_info where;
    dladdr((void *)cuInit, &where);
    self = dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  }
  snprintf(versioned, sizeof versioned, "%s_v2", name);
  *out = dlsym(self, versioned);
  if (!*out) *out = dlsym(self, name);
  if (!*out) *out = (void *)refuse;
  if (status) *status = 0;
  return 0;
}
R cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) { return cuGetProcAddress_v2(name, out, version, flags, NULL); }
