/* Stand-in for libnvidia-ml.so.1: answers from the machine's description (see machine.h).
   Keys are `nvml.<name>` for the system, `gpu.<index>.<name>` for devices and
   `gpu.<index>.mig.<instance>.<name>` for MIG instances. Numbers are in NVML's own units. */
#include "machine.h"

typedef int R;
typedef void *D;
enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

/* A handle is 1 + index for a device; bit 20 and up hold 1 + instance for a MIG instance. */
#define INDEX(d) ((int)((intptr_t)(d) & 0xfffff) - 1)
#define INSTANCE(d) ((int)((intptr_t)(d) >> 20) - 1)

static const char *value(D d, const char *name) {
  char inner[120];
  if (INSTANCE(d) < 0) return device_value("gpu", INDEX(d), name);
  snprintf(inner, sizeof inner, "mig.%d.%s", INSTANCE(d), name);
  return device_value("gpu", INDEX(d), inner);
}

static R text_out(const char *found, char *out, U size) {
  if (!found) return NOT_SUPPORTED;
  if (strlen(found) >= size) return INSUFFICIENT_SIZE;
  strcpy(out, found);
  return OK;
}

static R number_out(const char *found, int which, U *out) {
  U64 number;
  if (number_in(found, which, &number)) return NOT_SUPPORTED;
  *out = (U)number;
  return OK;
}

#define FAULT(call, d) { R code = fault_of("gpu", call, d); if (code) return code; }
#define TEXT(call, name) R call(D d, char *out, U size) { \
  FAULT(#call, INDEX(d)) return text_out(value(d, name), out, size); }
#define UINT(call, name) R call(D d, U *out) { \
  FAULT(#call, INDEX(d)) return number_out(value(d, name), 0, out); }
#define PAIR(call, name) R call(D d, U *one, U *two) { \
  FAULT(#call, INDEX(d)) R code = number_out(value(d, name), 0, one); \
  return code ? code : number_out(value(d, name), 1, two); }
#define BY(call, name) R call(D d, U which, U *out) { char key[80]; \
  FAULT(#call, INDEX(d)) snprintf(key, sizeof key, "%s.%u", name, which); \
  return number_out(value(d, key), 0, out); }
#define UINT64(call, name) R call(D d, U64 *out) { \
  FAULT(#call, INDEX(d)) return number_in(value(d, name), 0, out) ? NOT_SUPPORTED : OK; }

/* ---- the library and the system */
R nvmlInitWithFlags(U flags) { (void)flags; FAULT("nvmlInit", -1) return (R)setting("nvml.init", 0); }
R nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
R nvmlInit(void) { return nvmlInitWithFlags(0); }
R nvmlShutdown(void) { FAULT("nvmlShutdown", -1) return OK; }
const char *nvmlErrorString(R code) {
  static const struct { R code; const char *text; } texts[] = {
    {0, "Success"}, {1, "Uninitialized"}, {2, "Invalid Argument"}, {3, "Not Supported"},
    {4, "Insufficient Permissions"}, {6, "Not Found"}, {7, "Insufficient Size"},
    {9, "Driver Not Loaded"}, {10, "Timeout"}, {12, "NVML Shared Library Not Found"},
    {13, "Function Not Found"}, {15, "GPU is lost"}, {16, "GPU requires reset"},
    {17, "The operating system has blocked the request."},
    {18, "Driver/library version mismatch"}, {999, "Unknown Error"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].code == code) return texts[i].text;
  return "Unknown Error";
}
R nvmlSystemGetDriverVersion(char *out, U size) {
  FAULT("nvmlSystemGetDriverVersion", -1) return text_out(value_of("nvml.driver_version"), out, size); }
R nvmlSystemGetNVMLVersion(char *out, U size) {
  FAULT("nvmlSystemGetNVMLVersion", -1) return text_out(value_of("nvml.version"), out, size); }
R nvmlSystemGetCudaDriverVersion_v2(int *out) {
  FAULT("nvmlSystemGetCudaDriverVersion", -1)
  return number_out(value_of("nvml.cuda_version"), 0, (U *)out); }
R nvmlSystemGetCudaDriverVersion(int *out) { return nvmlSystemGetCudaDriverVersion_v2(out); }
R nvmlDeviceGetCount_v2(U *out) { FAULT("nvmlDeviceGetCount", -1) *out = (U)setting("nvml.count", 0); return OK; }
R nvmlDeviceGetCount(U *out) { return nvmlDeviceGetCount_v2(out); }
R nvmlDeviceGetHandleByIndex_v2(U index, D *out) {
  FAULT("nvmlDeviceGetHandleByIndex", (int)index)
  if (index >= (U)setting("nvml.count", 0)) return INVALID;
  *out = (D)(intptr_t)(index + 1);
  return OK;
}
R nvmlDeviceGetHandleByIndex(U index, D *out) { return nvmlDeviceGetHandleByIndex_v2(index, out); }

/* ---- identity */
TEXT(nvmlDeviceGetName, "name")
TEXT(nvmlDeviceGetUUID, "uuid")
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetVbiosVersion, "vbios")
UINT(nvmlDeviceGetMinorNumber, "minor")
UINT(nvmlDeviceGetArchitecture, "architecture")
PAIR(nvmlDeviceGetCudaComputeCapability, "compute_capability")
typedef struct { char legacy[16]; U domain, bus, device, id, subsystem; char bus_id[32]; } Pci;
static R pci_out(const char *address, Pci *out) {
  U function = 0;
  memset(out, 0, sizeof *out);
  if (!address) return NOT_SUPPORTED;
  sscanf(address, "%x:%x:%x.%x", &out->domain, &out->bus, &out->device, &function);
  snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.%X", out->domain, out->bus, out->device, function);
  snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.%X", out->domain & 0xffff, out->bus & 0xff, out->device & 0xff, function & 0xf);
  return OK;
}
R nvmlDeviceGetPciInfo_v3(D d, Pci *out) { FAULT("nvmlDeviceGetPciInfo", INDEX(d)) return pci_out(value(d, "pci"), out); }
R nvmlDeviceGetHandleByPciBusId_v2(const char *address, D *out) {
  Pci wanted, found;
  pci_out(address, &wanted);
  for (U index = 0; !nvmlDeviceGetHandleByIndex_v2(index, out); index++)
    if (!pci_out(value(*out, "pci"), &found) && !strcmp(found.bus_id, wanted.bus_id)) return OK;
  return NOT_FOUND;
}

/* ---- memory, load, link */
R nvmlDeviceGetMemoryInfo(D d, U64 *out) {  /* total, free, used (which holds the reserved) */
  FAULT("nvmlDeviceGetMemoryInfo", INDEX(d))
  U64 reserved = 0;
  if (number_in(value(d, "memory_total"), 0, out) || number_in(value(d, "memory_used"), 0, out + 2)) return NOT_SUPPORTED;
  number_in(value(d, "memory_reserved"), 0, &reserved);
  out[2] += reserved;
  out[1] = out[0] - out[2];
  return OK;
}
typedef struct { U version; U64 total, reserved, free, used; } Memory2;
R nvmlDeviceGetMemoryInfo_v2(D d, Memory2 *out) {
  FAULT("nvmlDeviceGetMemoryInfo_v2", INDEX(d))
  if (number_in(value(d, "memory_total"), 0, &out->total) || number_in(value(d, "memory_reserved"), 0, &out->reserved)
      || number_in(value(d, "memory_used"), 0, &out->used)) return NOT_SUPPORTED;
  out->free = out->total - out->reserved - out->used;
  return OK;
}
R nvmlDeviceGetUtilizationRates(D d, U *out) {
  FAULT("nvmlDeviceGetUtilizationRates", INDEX(d))
  out[1] = 0;
  return number_out(value(d, "utilization"), 0, out);
}
UINT(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation")
UINT(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_max_generation")
UINT(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
UINT(nvmlDeviceGetMaxPcieLinkWidth, "pcie_max_width")
UINT(nvmlDeviceGetPcieReplayCounter, "pcie_replays")

/* ---- power, clocks, temperature */
UINT(nvmlDeviceGetPowerUsage, "power_usage")
UINT(nvmlDeviceGetPowerManagementLimit, "power_limit")
UINT(nvmlDeviceGetPowerManagementDefaultLimit, "power_default_limit")
UINT(nvmlDeviceGetEnforcedPowerLimit, "power_enforced_limit")
PAIR(nvmlDeviceGetPowerManagementLimitConstraints, "power_constraints")
BY(nvmlDeviceGetClockInfo, "clock")
BY(nvmlDeviceGetMaxClockInfo, "max_clock")
BY(nvmlDeviceGetApplicationsClock, "applications_clock")
UINT64(nvmlDeviceGetCurrentClocksEventReasons, "event_reasons")
UINT64(nvmlDeviceGetCurrentClocksThrottleReasons, "throttle_reasons")
BY(nvmlDeviceGetTemperature, "temperature")
BY(nvmlDeviceGetTemperatureThreshold, "threshold")
UINT(nvmlDeviceGetPerformanceState, "pstate")

/* ---- modes */
UINT(nvmlDeviceGetPersistenceMode, "persistence_mode")
UINT(nvmlDeviceGetComputeMode, "compute_mode")
UINT64(nvmlDeviceGetVirtualizationMode, "virtualization_mode")
PAIR(nvmlDeviceGetMigMode, "mig_mode")
typedef struct { U code, state; char info[128], product[128]; U enabled; struct { uint32_t year; uint16_t part[5]; uint8_t status; } expiry; } Feature;
typedef struct { int supported; U count; Feature features[3]; } Features;
R nvmlDeviceGetGridLicensableFeatures_v4(D d, Features *out) {
  FAULT("nvmlDeviceGetGridLicensableFeatures", INDEX(d))
  memset(out, 0, sizeof *out);
  if (number_out(value(d, "license_state"), 0, &out->features[0].state)) return NOT_SUPPORTED;
  out->supported = 1;
  out->count = 1;
  out->features[0].enabled = out->features[0].state == 5;
  return OK;
}

/* ---- memory errors */
PAIR(nvmlDeviceGetEccMode, "ecc_mode")
R nvmlDeviceGetTotalEccErrors(D d, U kind, U counter, U64 *out) {
  char key[40];
  FAULT("nvmlDeviceGetTotalEccErrors", INDEX(d))
  snprintf(key, sizeof key, "ecc_errors.%u.%u", kind, counter);
  return number_in(value(d, key), 0, out) ? NOT_SUPPORTED : OK;
}
R nvmlDeviceGetRemappedRows(D d, U *one, U *two, U *pending, U *failed) {
  FAULT("nvmlDeviceGetRemappedRows", INDEX(d))
  U *out[] = {one, two, pending, failed};
  for (int i = 0; i < 4; i++) if (number_out(value(d, "remapped_rows"), i, out[i])) return NOT_SUPPORTED;
  return OK;
}
R nvmlDeviceGetRetiredPages(D d, U cause, U *count, U64 *pages) {
  U found;
  char key[40];
  FAULT("nvmlDeviceGetRetiredPages", INDEX(d))
  snprintf(key, sizeof key, "retired_pages.%u", cause);
  if (number_out(value(d, key), 0, &found)) return NOT_SUPPORTED;
  if (*count < found || (found && !pages)) { *count = found; return INSUFFICIENT_SIZE; }
  for (U i = 0; i < found; i++) pages[i] = i;
  *count = found;
  return OK;
}
UINT(nvmlDeviceGetRetiredPagesPendingStatus, "retired_pages_pending")

/* ---- links, fabric, peers */
BY(nvmlDeviceGetNvLinkState, "nvlink_state")
R nvmlDeviceGetNvLinkRemotePciInfo_v2(D d, U link, Pci *out) {
  char key[40];
  FAULT("nvmlDeviceGetNvLinkRemotePciInfo", INDEX(d))
  snprintf(key, sizeof key, "nvlink_remote.%u", link);
  return pci_out(value(d, key), out);
}
R nvmlDeviceGetNvLinkErrorCounter(D d, U link, U counter, U64 *out) {
  char key[40];
  FAULT("nvmlDeviceGetNvLinkErrorCounter", INDEX(d))
  snprintf(key, sizeof key, "nvlink_errors.%u.%u", link, counter);
  return number_in(value(d, key), 0, out) ? NOT_SUPPORTED : OK;
}
typedef struct { uint32_t field, scope; int64_t timestamp, latency; U type; R code; U64 value; } Field;
R nvmlDeviceGetFieldValues(D d, int count, Field *fields) {
  char key[40];
  FAULT("nvmlDeviceGetFieldValues", INDEX(d))
  for (int i = 0; i < count; i++) {
    snprintf(key, sizeof key, "field.%u", fields[i].field);
    fields[i].type = 1;  /* unsigned int */
    fields[i].code = number_in(value(d, key), 0, &fields[i].value) ? NOT_SUPPORTED : OK;
  }
  return OK;
}
typedef struct { U version; uint8_t cluster[16]; R status; uint32_t clique; U state; uint32_t mask; uint8_t summary; } Fabric;
R nvmlDeviceGetGpuFabricInfoV(D d, Fabric *out) {  /* fabric = state status summary */
  U summary = 0;
  FAULT("nvmlDeviceGetGpuFabricInfoV", INDEX(d))
  if (number_out(value(d, "fabric"), 0, &out->state)) return NOT_SUPPORTED;
  number_out(value(d, "fabric"), 1, (U *)&out->status);
  number_out(value(d, "fabric"), 2, &summary);
  if ((out->version >> 24) >= 3) out->summary = (uint8_t)summary;
  return OK;
}
static R between(D one, D two, const char *name, U *out) {
  char key[40];
  snprintf(key, sizeof key, "%s.%d", name, INDEX(two));
  const char *found = value(one, key);
  return number_out(found ? found : value(one, name), 0, out);
}
R nvmlDeviceGetTopologyCommonAncestor(D one, D two, U *out) {
  FAULT("nvmlDeviceGetTopologyCommonAncestor", INDEX(one)) return between(one, two, "topology", out); }
R nvmlDeviceGetP2PStatus(D one, D two, U which, U *out) {
  char key[40];
  FAULT("nvmlDeviceGetP2PStatus", INDEX(one))
  snprintf(key, sizeof key, "p2p.%u", which);
  return between(one, two, key, out);
}

/* ---- processes: `process.0 = pid bytes`, bytes "-" for not available */
typedef struct { U pid; U64 memory; U gpu_instance, compute_instance; } Process;
static R processes(D d, const char *kind, U *count, Process *out) {
  char key[40];
  U64 pid, memory;
  U found = 0;
  for (;; found++) {
    snprintf(key, sizeof key, "%s.%u", kind, found);
    const char *entry = value(d, key);
    if (number_in(entry, 0, &pid)) break;
    if (number_in(entry, 1, &memory)) memory = ~0ull;
    if (out && found < *count) out[found] = (Process){(U)pid, memory, ~0u, ~0u};
  }
  int fits = out ? found <= *count : !found;
  *count = found;
  return fits ? OK : INSUFFICIENT_SIZE;
}
R nvmlDeviceGetComputeRunningProcesses_v3(D d, U *count, Process *out) {
  FAULT("nvmlDeviceGetComputeRunningProcesses", INDEX(d)) return processes(d, "process", count, out); }
R nvmlDeviceGetGraphicsRunningProcesses_v3(D d, U *count, Process *out) {
  FAULT("nvmlDeviceGetGraphicsRunningProcesses", INDEX(d)) return processes(d, "graphics", count, out); }

/* ---- MIG instances: `mig_instances = 2`, then mig.<n>.<name> */
R nvmlDeviceGetMaxMigDeviceCount(D d, U *out) {
  FAULT("nvmlDeviceGetMaxMigDeviceCount", INDEX(d))
  if (!value(d, "mig_mode")) return NOT_SUPPORTED;
  *out = 7;
  return OK;
}
R nvmlDeviceGetMigDeviceHandleByIndex(D d, U instance, D *out) {
  U count = 0;
  FAULT("nvmlDeviceGetMigDeviceHandleByIndex", INDEX(d))
  number_out(value(d, "mig_instances"), 0, &count);
  if (instance >= count) return NOT_FOUND;
  *out = (D)((intptr_t)d | ((intptr_t)(instance + 1) << 20));
  return OK;
}
typedef struct { U multiprocessors, shared[5], gi_slices, ci_slices; U64 memory_mb; } Attributes;
R nvmlDeviceGetAttributes_v2(D d, Attributes *out) {
  FAULT("nvmlDeviceGetAttributes", INDEX(d))
  memset(out, 0, sizeof *out);
  return number_out(value(d, "multiprocessors"), 0, &out->multiprocessors);
}
