"""The commands of `araplbs`, a module each: it has the Command that main.py runs on files."""
