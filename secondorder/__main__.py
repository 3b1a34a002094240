"""`python -m secondorder` is the command `secondorder`."""

from secondorder.cli import process

if __name__ == "__main__":
    process()
