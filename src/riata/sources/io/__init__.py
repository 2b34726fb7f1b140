"""Bytes: files, pipes, remote paths; unpacking, lines, and work ahead of the reader."""
