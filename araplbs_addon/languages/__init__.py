"""The interface in other languages, with a catalog NAME.po of all strings for each of
Blender's language names. docs/languages.md describes how catalogs are made and their terms."""
