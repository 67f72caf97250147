"""Jobs as plain processes of this machine: one supervised, detached process per launch, in a run directory of its own.

What makes the name unique is the exclusive creation of the run directory; what makes the job exist is its birth record. The
supervisor first records its arrival, then looks at the clock, and only then is born. So a job that has neither arrived nor
been born once its deadline is past never will be: whoever arrives later sees the clock and starts nothing, however long it
or its creator was paused. Whoever has arrived and is not yet born is undecided, and a look-up says so instead of "none".

A run directory holds, in the order in which they appear::

    rendering.json    the reviewed order, byte for byte
    supervisor.log    what the supervisor complained of; normally empty
    arrival.json      the supervisor has come, before its last look at the clock
    birth.json        the job exists
    child.json        the command's process, recorded by itself before it becomes the command
    output.log        what the command wrote
    stop.json         a stop was asked for
    exit.json         how it ended

What this does not cover: a service manager that ends the whole control group of gonogo ends its jobs with it, and they show
as vanished; run directories on a network file system, whose caches may hide a record; a pause of the submitter after its
last check and before the call of create, because the deadline counts from that call. A command that leaves its process
group outlives its job; what it leaves in the group is ended with it.
"""
