"""Translates the interface into other languages. For each language, under Blender's name for it, a
catalog NAME.po contains all strings. docs/languages.md describes the terms and how catalogs are
made."""
