"""The panels, menus and the overlay, which show all features together. Operators and sessions
belong to their features."""
