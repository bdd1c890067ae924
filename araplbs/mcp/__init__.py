"""A server for the Model Context Protocol, through which assistants call the commands. It is
started with python -m araplbs.mcp, requires the package mcp, and reads and writes files on this
machine."""
