"""A server for the Model Context Protocol, with which assistants call the commands: python -m
araplbs.mcp. It requires the package mcp, and reads and writes files on this machine."""
