"""The version of dpsym; the package's metadata is read from here."""

VERSION = "0.1.0"
