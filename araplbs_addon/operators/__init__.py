"""What all operators share: base classes, settings, sessions, guard, sidebar and views."""
