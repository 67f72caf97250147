"""What later versions bring, declined by name. Taking a line out lets the field in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NOT_YET: Mapping[str, str] = MappingProxyType(
    {
        "platform.docker": "this version has no docker backend",
        "platform.local-docker": "this version has no docker backend",
        "platform.remote-docker": "this version has no docker backend",
        "platform.slurm": "this version has no slurm backend",
        "platform.kubernetes": "this version has no kubernetes backend",
        "platform.brev": "this version has no brev backend",
        "platform.volcengine": "this version has no volcengine backend",
        "run.copy": "copies of a source task come with the volcengine backend",
        "run.config": "reviewed platform configs come with the volcengine backend",
        "run.tao": "TAO actions come with the container backends",
        "image": "images come with the container backends",
        "data": "datasets come with the backends that map them",
        "batch": "batches come with placeholders",
        "smoke_first": "a smoke before a launch comes with the cluster backends",
        "short_run": "the proof of a short run comes with training configs",
        "compare_with": "comparing two launches comes with training configs",
        "rerun": "reruns come with copies of a source task",
        "time_budget": "time budgets come with TAO actions",
        "monitor.status_every": "reports in between come with TAO actions; every change of status is told",
        "authorize.may.yield-placeholders": "this version touches no placeholder",
        "notify.feishu": "this version tells people by console and file",
        "notify.slack": "this version tells people by console and file",
        "notify.dingtalk": "this version tells people by console and file",
        "notify.wecom": "this version tells people by console and file",
        "notify.email": "this version tells people by console and file",
        "notify.webhook": "this version tells people by console and file",
    }
)
