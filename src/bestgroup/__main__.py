"""`python -m bestgroup` is the command line."""

from bestgroup.cli.start import run

if __name__ == "__main__":
    run()
