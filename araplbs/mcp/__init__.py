"""A server of the Model Context Protocol, by which assistants call the commands: python -m
araplbs.mcp. It needs the package mcp, and reads and writes files of this machine."""
