/* Stand-in for libamd_smi.so. The real Python module wants 184 symbols at import
   (amd_smi_symbols.txt); those that are not written here are added by the build as weak functions
   that answer "not supported". Keys: amd.init, amd.count, amd.<index>.<name>. Structures are those
   of amdsmi 7.0.2; every device is a socket of its own. */
#include "machine.h"

typedef int R;
typedef void *H;
enum { OK = 0, INVAL = 1, NOT_SUPPORTED = 2 };
#define INDEX(h) ((int)(intptr_t)(h) - 1)
#define FAULT(call, h) { R code = fault_of("amd", call, h); if (code) return code; }

static const char *value(H h, const char *name) { return device_value("amd", INDEX(h), name); }
static R number(H h, const char *name, int which, U64 *out) { return number_in(value(h, name), which, out) ? NOT_SUPPORTED : OK; }
static U64 number_or(H h, const char *name, int which, U64 otherwise) {
  U64 found;
  return number(h, name, which, &found) ? otherwise : found;
}
static void text(H h, const char *name, char *out, size_t size) {
  const char *found = value(h, name);
  snprintf(out, size, "%s", found ? found : "");
}

R amdsmi_init(U64 flags) { (void)flags; FAULT("amdsmi_init", -1) return (R)setting("amd.init", 0); }
R amdsmi_shut_down(void) { return OK; }
R amdsmi_status_code_to_string(R code, const char **out) { (void)code; *out = "stand-in"; return OK; }
void amdsmi_free_name_value_pairs(void *p) { (void)p; }
typedef struct { U major, minor, release; const char *build; } Version;
R amdsmi_get_lib_version(Version *out) { *out = (Version){26, 0, 2, "stand-in"}; return OK; }
R amdsmi_get_socket_handles(U *count, H *out) {
  FAULT("amdsmi_get_socket_handles", -1)
  U found = (U)setting("amd.count", 0);
  for (U i = 0; out && i < found && i < *count; i++) out[i] = (H)(intptr_t)(i + 1);
  *count = found;
  return OK;
}
R amdsmi_get_processor_handles(H socket, U *count, H *out) {
  FAULT("amdsmi_get_processor_handles", INDEX(socket))
  if (out) out[0] = socket;
  *count = 1;
  return OK;
}

/* ---- identity */
R amdsmi_get_gpu_device_bdf(H h, U64 *out) {
  U domain, bus, device, function;
  FAULT("amdsmi_get_gpu_device_bdf", INDEX(h))
  const char *found = value(h, "pci");
  if (!found || sscanf(found, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return NOT_SUPPORTED;
  *out = function | device << 3 | bus << 8 | (U64)domain << 16;
  return OK;
}
R amdsmi_get_gpu_device_uuid(H h, U *size, char *out) {
  FAULT("amdsmi_get_gpu_device_uuid", INDEX(h))
  if (!value(h, "uuid")) return NOT_SUPPORTED;
  text(h, "uuid", out, *size);
  return OK;
}
typedef struct {
  char name[256]; uint32_t vendor; char vendor_name[256]; uint32_t subvendor; uint64_t device; uint32_t revision;
  char serial[256]; uint32_t oam, units, pad; uint64_t target; uint32_t subsystem, reserved[21];
} Asic;
R amdsmi_get_gpu_asic_info(H h, Asic *out) {
  FAULT("amdsmi_get_gpu_asic_info", INDEX(h))
  memset(out, 0, sizeof *out);
  text(h, "name", out->name, 256);
  text(h, "serial", out->serial, 256);
  out->vendor = 0x1002;
  out->device = number_or(h, "device_id", 0, 0);
  out->oam = ~0u;
  out->units = (uint32_t)number_or(h, "compute_units", 0, ~0u);
  out->target = number_or(h, "target", 0, ~0ull);
  return OK;
}
typedef struct { char name[256], date[256], part[256], version[256]; uint64_t reserved[68]; } Vbios;
R amdsmi_get_gpu_vbios_info(H h, Vbios *out) {
  FAULT("amdsmi_get_gpu_vbios_info", INDEX(h))
  memset(out, 0, sizeof *out);
  text(h, "vbios", out->version, 256);
  return OK;
}
typedef struct { char version[256], date[256], name[256]; } DriverInfo;
R amdsmi_get_gpu_driver_info(H h, DriverInfo *out) {
  FAULT("amdsmi_get_gpu_driver_info", INDEX(h))
  memset(out, 0, sizeof *out);
  text(h, "driver_version", out->version, 256);
  strcpy(out->name, "amdgpu");
  return OK;
}

/* ---- memory, load, link */
R amdsmi_get_gpu_memory_total(H h, U kind, U64 *out) { FAULT("amdsmi_get_gpu_memory_total", INDEX(h)) return kind ? NOT_SUPPORTED : number(h, "memory_total", 0, out); }
R amdsmi_get_gpu_memory_usage(H h, U kind, U64 *out) { FAULT("amdsmi_get_gpu_memory_usage", INDEX(h)) return kind ? NOT_SUPPORTED : number(h, "memory_used", 0, out); }
R amdsmi_get_gpu_activity(H h, uint32_t *out) {
  FAULT("amdsmi_get_gpu_activity", INDEX(h))
  for (int i = 0; i < 16; i++) out[i] = 0xffff;
  out[0] = (uint32_t)number_or(h, "utilization", 0, 0xffff);
  return OK;
}
typedef struct {
  struct { uint16_t width; uint32_t speed, version, slot, max_version, pad; uint64_t reserved[9]; } fixed;
  struct { uint16_t width; uint32_t speed, bandwidth, pad; uint64_t replays, counters[4]; uint32_t other, pad2; uint64_t reserved[12]; } now;
  uint64_t reserved[32];
} Pcie;
R amdsmi_get_pcie_info(H h, Pcie *out) {
  FAULT("amdsmi_get_pcie_info", INDEX(h))
  memset(out, 0, sizeof *out);
  out->fixed.width = (uint16_t)number_or(h, "pcie_max_width", 0, 0xffff);
  out->fixed.speed = (uint32_t)number_or(h, "pcie_max_speed", 0, ~0u);
  out->now.width = (uint16_t)number_or(h, "pcie_width", 0, 0xffff);
  out->now.speed = (uint32_t)number_or(h, "pcie_speed", 0, ~0u);
  out->now.replays = number_or(h, "pcie_replays", 0, ~0ull);
  return OK;
}

/* ---- power, clocks, temperature */
typedef struct { uint64_t socket; uint32_t current, average; uint64_t volts[3]; uint32_t limit, pad; uint64_t reserved[18]; } Power;
R amdsmi_get_power_info(H h, Power *out) {
  FAULT("amdsmi_get_power_info", INDEX(h))
  memset(out, 0, sizeof *out);
  out->current = (uint32_t)number_or(h, "power_usage", 0, 0xffff);
  out->socket = out->average = 0xffff;
  return OK;
}
R amdsmi_get_power_cap_info(H h, U sensor, uint64_t *out) {  /* cap, default, dpm, least, most: microwatts */
  FAULT("amdsmi_get_power_cap_info", INDEX(h))
  (void)sensor;
  for (int i = 0; i < 5; i++) if (number(h, "power_caps", i, (U64 *)&out[i])) return NOT_SUPPORTED;
  return OK;
}
typedef struct { uint32_t now, least, most; uint8_t locked, deep; uint32_t reserved[4]; } Clock;
R amdsmi_get_clock_info(H h, U kind, Clock *out) {
  char key[32];
  U64 found;
  FAULT("amdsmi_get_clock_info", INDEX(h))
  snprintf(key, sizeof key, "clock.%u", kind);
  if (number(h, key, 0, &found)) return NOT_SUPPORTED;
  memset(out, 0, sizeof *out);
  out->now = (uint32_t)found;
  out->most = (uint32_t)number_or(h, key, 1, ~0u);
  return OK;
}
R amdsmi_get_temp_metric(H h, U kind, U metric, int64_t *out) {
  char key[32];
  FAULT("amdsmi_get_temp_metric", INDEX(h))
  snprintf(key, sizeof key, "temperature.%u.%u", kind, metric);
  return number(h, key, 0, (U64 *)out);
}

/* ---- memory errors */
static R errors(H h, const char *key, uint64_t *out) {
  memset(out, 0, 64);
  if (number(h, key, 0, (U64 *)out)) return NOT_SUPPORTED;
  return number(h, key, 1, (U64 *)out + 1);
}
R amdsmi_get_gpu_total_ecc_count(H h, uint64_t *out) { FAULT("amdsmi_get_gpu_total_ecc_count", INDEX(h)) return errors(h, "ecc", out); }
R amdsmi_get_gpu_ecc_count(H h, U64 block, uint64_t *out) {
  char key[40];
  FAULT("amdsmi_get_gpu_ecc_count", INDEX(h))
  snprintf(key, sizeof key, "ecc.%llu", block);
  return errors(h, key, out);
}
R amdsmi_get_gpu_ras_block_features_enabled(H h, U64 block, U *out) {
  char key[40];
  FAULT("amdsmi_get_gpu_ras_block_features_enabled", INDEX(h))
  if (!value(h, "ras")) return NOT_SUPPORTED;
  snprintf(key, sizeof key, "ecc.%llu", block);
  *out = value(h, key) ? 6 : 1;  /* enabled, disabled */
  return OK;
}
typedef struct { uint64_t address, size; U status, pad; } Page;
R amdsmi_get_gpu_bad_page_info(H h, U *count, Page *out) {
  U64 found;
  FAULT("amdsmi_get_gpu_bad_page_info", INDEX(h))
  if (number(h, "bad_pages", 0, &found)) return NOT_SUPPORTED;
  for (U i = 0; out && i < found && i < *count; i++)
    out[i] = (Page){i, 4096, (U)number_or(h, "bad_pages", 1, 0), 0};
  *count = (U)found;
  return OK;
}

/* ---- modes, links, processes */
R amdsmi_get_gpu_compute_partition(H h, char *out, U size) {
  FAULT("amdsmi_get_gpu_compute_partition", INDEX(h))
  if (!value(h, "compute_partition")) return NOT_SUPPORTED;
  text(h, "compute_partition", out, size);
  return OK;
}
R amdsmi_get_gpu_memory_partition(H h, char *out, U size) {
  FAULT("amdsmi_get_gpu_memory_partition", INDEX(h))
  if (!value(h, "memory_partition")) return NOT_SUPPORTED;
  text(h, "memory_partition", out, size);
  return OK;
}
R amdsmi_get_gpu_virtualization_mode(H h, U *out) {
  U64 found;
  FAULT("amdsmi_get_gpu_virtualization_mode", INDEX(h))
  if (number(h, "virtualization_mode", 0, &found)) return NOT_SUPPORTED;
  *out = (U)found;
  return OK;
}
typedef struct { U total, status[8], pad; uint64_t reserved[7]; } Xgmi;
R amdsmi_get_gpu_xgmi_link_status(H h, Xgmi *out) {
  U64 found;
  FAULT("amdsmi_get_gpu_xgmi_link_status", INDEX(h))
  memset(out, 0, sizeof *out);
  while (out->total < 8 && !number(h, "xgmi", (int)out->total, &found)) out->status[out->total++] = (U)found;
  return out->total ? OK : NOT_SUPPORTED;
}
R amdsmi_topo_get_link_type(H one, H two, U64 *hops, U *kind) {
  U64 found;
  FAULT("amdsmi_topo_get_link_type", INDEX(one))
  (void)two;
  *hops = 1;
  if (number(one, "link_type", 0, &found)) return NOT_SUPPORTED;
  *kind = (U)found;
  return OK;
}
R amdsmi_is_P2P_accessible(H one, H two, _Bool *out) {
  FAULT("amdsmi_is_P2P_accessible", INDEX(one))
  (void)two;
  *out = number_or(one, "p2p", 0, 0) != 0;
  return OK;
}
typedef struct {
  char name[256]; uint32_t pid, pad; uint64_t memory;
  struct { uint64_t gfx, enc; uint32_t reserved[12]; } engine;
  struct { uint64_t gtt, cpu, vram; uint32_t reserved[10]; } usage;
  char container[256]; uint32_t occupancy, reserved[11];
} Process;
R amdsmi_get_gpu_process_list(H h, U *most, Process *out) {
  char key[32];
  U64 pid, memory;
  U found = 0;
  FAULT("amdsmi_get_gpu_process_list", INDEX(h))
  for (;; found++) {
    snprintf(key, sizeof key, "process.%u", found);
    if (number(h, key, 0, &pid) || number(h, key, 1, &memory)) break;
    if (out && found < *most) { out[found].pid = (uint32_t)pid; out[found].usage.vram = memory; }
  }
  *most = found;
  return OK;
}
