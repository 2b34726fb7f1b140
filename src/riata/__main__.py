"""`python -m riata`."""

from riata.cli import main

if __name__ == "__main__":
    main()
