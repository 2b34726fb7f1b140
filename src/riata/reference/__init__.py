"""Every update rule again, dense, in NumPy, as the papers state it: the specification."""
