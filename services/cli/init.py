"""`gonogo init`: a commented request file to start from."""

from __future__ import annotations

import argparse

from gonogo.services.cli.output import OK, USAGE, print_json, stop

LOCAL = """\
schema: gonogo/v1
name: my-run                        # part of the job's name; letters, digits, -
purpose: train                      # train | smoke
platform: local                     # a process of the machine where the workers run
code: .                             # relative paths start at this file's folder
run: {command: [python3, train.py]} # the program and its arguments
output: runs/my-run                 # must not exist yet: results are never overwritten
env: {SEED: "7"}                    # plain values; secrets go below, by reference
# secrets: {HF_TOKEN: "env:HF_TOKEN"}   # env:NAME or file:/absolute/path, read right before the start
resources: {nodes: 1, gpus_per_node: 0, time_limit: 1h}
monitor: {poll: 1s}                 # how often the job is looked at
notify: [console]                   # console | file
# authorize: {may: [submit], basis: "who allowed it, where, when"}   # leave out and gonogo asks
"""
FILES = {"local": LOCAL}


def init(arguments: argparse.Namespace) -> int:
    """Print the file for a platform."""
    text = FILES.get(arguments.platform)
    if text is None:
        fix = f"this version starts files for: {', '.join(FILES)}"
        stop(USAGE, f"no request file for {arguments.platform!r} yet", fix=fix, path="platform")
    if arguments.json:
        print_json({"platform": arguments.platform, "file": text})
    else:
        print(text, end="")
    return OK
