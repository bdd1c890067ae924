"""The base of all other folders: errors, progress, steps and threads of work, and the native
module. This folder contains nothing about bones, meshes or files."""
