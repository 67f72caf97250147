"""Our adapters to platforms. `port.py` says what each must do; one file or package per platform."""
