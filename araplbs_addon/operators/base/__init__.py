"""What operators share: work beside a window, live sessions, options as properties, scene settings.
No feature has its operator here."""
