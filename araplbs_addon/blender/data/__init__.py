"""Data that the add-on keeps in a file, and questions that several rooms ask of objects, bones and
modifiers. Nothing here evaluates poses."""
