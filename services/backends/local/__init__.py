"""Jobs as plain processes of this machine: one supervised, detached process per launch, in a run directory of its own.

The run directory's exclusive creation makes a name unique; the supervisor's birth record makes the job exist. A supervisor
whose birth would come after its deadline never starts the command, so once the grace is over, "no birth record" is proof.
"""
