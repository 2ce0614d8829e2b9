"""Two backends, each of which asks for priority over the other."""
