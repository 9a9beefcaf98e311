"""Containment of untrusted commands."""
