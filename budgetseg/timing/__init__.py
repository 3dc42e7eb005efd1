"""Time, and how it is spent: clocks, prices, the ledger. No other package reads the system's clock."""
