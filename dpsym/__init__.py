"""dpsym."""
