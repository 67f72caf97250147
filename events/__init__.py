"""What was said: the contract of gonogo, one module per noun.

The story of one launch, in events, in order::

    LaunchRequested          a client asks (inbox)
    LaunchAccepted           intake: this is launch <id>; LaunchPlanned: and this is exactly what would be sent
    CheckPassed …            preflight: go / no-go, with evidence; PreflightPassed
    ReviewConfirmed          a person, or the authorization in the request, says yes to that plan digest
    QueueCleared             placeholder_manager: nothing stands in the way
    SubmissionIntended       submitter: about to create, once
    SubmissionAccepted       the platform has the job; SubmissionVerified: read back, it is the planned one
    JobStatusChanged …       watcher: what the platform says, until JobSucceeded / Failed / Cancelled / Stopped
    NotificationDelivered    notifier: people were told

This package imports the standard library and msgspec; only the JetStream log files import nats. A client that publishes or
audits needs nothing else.
"""
