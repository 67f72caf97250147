"""What every worker stands on: the one loop, the decision type, time and ids, settings, logging, supervision."""
