"""Left and right: sides in names, and the plane between them by joints and skin.
What the bones on both sides do belongs in skeleton/."""
