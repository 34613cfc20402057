"""Pasted texts: what nvidia-smi, collect_env, pip, a traceback or a mail shows of a machine."""
