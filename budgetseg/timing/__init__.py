"""Time and what it is spent on: clocks, prices, the ledger. Nothing else reads the system's clock."""
