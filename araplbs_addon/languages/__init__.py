"""The interface in other languages: of each a catalogue with every string, NAME.po by Blender's
name of the language. docs/languages.md says how they are made and which terms they use."""
