"""Clears the queue before a submission; says so also when there is nothing to clear.

Hears: launch histories, after the go and the yes.
Says: QueueCleared. (Yielding and restoring placeholders needs a platform that has them; their events are reserved.)
Does: nothing outside yet.
"""
