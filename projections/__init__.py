"""What is therefore true: pure folds over the log, one per noun. Nothing here is the truth; the log is.

Everything can be rebuilt from zero: read the log from sequence 1 and fold. `store` keeps rows and the log position they
stand for in one transaction, so its file may be deleted at any time.
"""
