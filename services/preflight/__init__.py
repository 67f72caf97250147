"""Polls every station: go or no-go, with evidence, before anything is created anywhere.

Hears: LaunchPlanned; RecheckRequested, CheckAttested, ReviewConfirmed.
Says: CheckPassed/Failed/Unverifiable, PreflightPassed/Failed/Expired, ReviewRequested; ReviewConfirmed when the request
      itself carries the authorization.
Does: reads only. One check, one file, in `checks/`.
"""
