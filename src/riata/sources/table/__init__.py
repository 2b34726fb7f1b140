"""Tables of columns: what their columns are, Parquet and Arrow files, frames."""
