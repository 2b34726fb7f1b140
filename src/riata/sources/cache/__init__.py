"""Blocks kept in an Arrow file, so that later passes need not parse again."""
