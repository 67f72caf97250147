"""The command line: stable, because scripts and agents rely on it. One file per group of commands, loaded when called."""
