"""A second look at certificates: is what their steps say true, where one can compute it?

``audit`` replays a certificate and tries every goal in it. An inequality is evaluated with mpmath
at random and extreme points; a statement about mechanisms is tried on random finite distributions
in exact rationals, and on grids of outputs where it is about explicit densities. The kernel is used
to read the certificate and to say which premises a step has, for nothing else: values, guarantees
and distributions are computed here.

A goal that is false in a certificate which the kernel accepts is a fault of the kernel. The rule to
blame is one whose conclusion is false while all its premises seem to be true.
"""

from dpsym.audit.auditor import POINTS, Audit, Coverage, Fault, Finding, audit, find

__all__ = ["POINTS", "Audit", "Coverage", "Fault", "Finding", "audit", "find"]
