"""Left and right: sides in names, and the plane between them by joints and skin.
Symmetric motions of bones belong in skeleton/."""
