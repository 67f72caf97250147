"""Pushes the button, exactly once, and finds out what became of it.

Hears: launch histories; wakes only on `QueueCleared` (and on its own doubts).
Says: SubmissionIntended, SubmissionAccepted, SubmissionVerified, SubmissionMismatched, SubmissionRejected,
      SubmissionUnresolved, SubmissionLookedUp, SubmissionAbsent, SubmissionConflicted, SubmissionWithheld, LaunchCancelled.
Does: **one create** per launch; look-ups and read-backs, as often as needed.
"""
