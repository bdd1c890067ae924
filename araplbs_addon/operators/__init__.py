"""The operators. They ask for work and report on it; tasks/ and live/ do it.
A room imports from itself and from those before it in ROOMS of tests/core/test_layers.py."""
