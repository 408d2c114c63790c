"""The best bound that follows from guarantees at numbers: a moment problem and its dual."""
