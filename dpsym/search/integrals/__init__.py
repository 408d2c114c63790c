"""Antiderivatives, telescoping sums and cut points: plans for the rules about one explicit pair."""
