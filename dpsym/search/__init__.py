"""Untrusted search: proposes proofs and counterexamples, which the kernel checks."""
