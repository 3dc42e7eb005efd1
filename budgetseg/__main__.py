"""`python -m budgetseg`."""

from budgetseg.cli import main

if __name__ == "__main__":
    main()
