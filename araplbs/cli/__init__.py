"""The command `araplbs`, which weights characters in files from the shell, without Blender. Each
subcommand is a module in commands/."""
