"""Prints what NVML says of every device's memory and activity, one JSON line a look.

Runs beside the user's command, in the agent's interpreter, until its standard input closes.
"""

import json
import select
import sys
import time


def read_devices(nvml):
    """Return [[uuid, used bytes or None, busy percent or None], …]."""
    rows = []
    for index in range(nvml.nvmlDeviceGetCount()):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = nvml.nvmlDeviceGetUUID(handle)
        used = busy = None
        try:
            used = int(nvml.nvmlDeviceGetMemoryInfo(handle).used)
        except nvml.NVMLError:
            pass
        try:
            busy = int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        except nvml.NVMLError:
            pass
        rows.append([uuid if isinstance(uuid, str) else uuid.decode(), used, busy])
    return rows


def say(record):
    """Print one record as a line, at once."""
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def main(least_seconds=0.1, cost_share=0.008):
    """Look again and again, at a pace that costs at most ``cost_share`` of one processor."""
    try:
        import pynvml as nvml

        nvml.nvmlInit()
    except Exception as error:
        say({"error": "%s: %s" % (type(error).__name__, error)})
        return
    wait = 0.0
    while not select.select([sys.stdin], [], [], wait)[0]:
        began = time.process_time()
        rows = read_devices(nvml)
        wait = max(least_seconds, (time.process_time() - began) / cost_share)
        say({"devices": rows, "interval_seconds": round(wait, 3)})


if __name__ == "__main__":
    main()
