"""The command `araplbs`: weights of characters in files, from the shell, without Blender. Each
of its commands is a module in commands/."""
