"""Takes people's words: the only door into the log.

Hears: the inbox (`in.<client>.<word>`).
Says: LaunchAccepted, LaunchPlanned, LaunchDeduplicated, LaunchDeclined, LaunchSuperseded; and, as role `request`, the words
      of people that stood the check: ReviewConfirmed/Declined, CancelRequested, RecheckRequested, CheckAttested,
      SettlementDeclared, WatchDetached.
Does: reads the request and renders the plan; changes nothing outside.
"""
