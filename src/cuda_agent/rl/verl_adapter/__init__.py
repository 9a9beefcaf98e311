"""Training at scale on verl and Ray, through verl's public hooks; the only room that imports verl."""
