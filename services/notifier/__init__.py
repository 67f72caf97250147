"""Tells people, once.

Hears: launch histories (everything in `notifications.TOLD`) and its own notice histories.
Says: NotificationIntended, NotificationDelivered/Unconfirmed/Undeliverable/RecordedLocally.
Does: sends notices through channels. Nothing is called sent that the channel did not confirm.
"""
