"""Where work is done: in this process, in processes of this machine, or on the machines of a Ray cluster."""
