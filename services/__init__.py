"""Who acts: six workers that talk only through the log, and the ports they act through.

Each worker is a room with the same three files: `decider.py` (pure: state and trigger in, decision out), `effects.py` (the
only file that knows its port) and `worker.py` (wiring).
"""
