"""Shared parts of operators: work while a window stays usable, live sessions, options as
properties, scene settings. No feature has its operator here."""
