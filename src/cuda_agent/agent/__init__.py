"""One agent on one task."""
