"""What budgeted labelling is measured against."""
