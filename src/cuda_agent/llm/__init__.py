"""Language models, or whatever stands in for one, behind one protocol."""
