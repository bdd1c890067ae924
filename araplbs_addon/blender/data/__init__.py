"""What the add-on keeps in a file, and what several rooms ask of objects, bones and modifiers.
Nothing here evaluates poses."""
