"""The command `araplbs`: weights of characters in files, from the shell, without Blender. What it
does with a file is a Command in a module of its name."""
