"""Watches the job until the platform's own record ends it, and stops it when a person cancelled.

Hears: launch histories, from SubmissionAccepted on; CancelRequested, WatchDetached.
Says: JobStatusChanged, JobRestarted, JobSucceeded/Failed/Cancelled/Stopped, DuplicateStopped, JobStopIntended/Answered,
      WatchDegraded, WatchRecovered.
Does: status queries, batched over all jobs of a platform; stop of a cancelled job.
"""
