"""The commands of `araplbs`. Each module contains the Command that main.py runs on files."""
