"""Facts of the trade, each row with its source: wheels, drivers, GPUs, and texts of errors."""
