"""The command `araplbs`: weights characters in files from the shell, without Blender. Each
of its commands is a module in commands/."""
