"""One run: the loop, plans, windows, traces and results. It knows spaces only as a contract."""
