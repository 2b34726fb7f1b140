"""The five papers, item by item, theirs and ours: `python -m papers`."""
