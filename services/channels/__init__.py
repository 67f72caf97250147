"""Our adapters to people. `port.py` says what each must answer; one file per channel."""
