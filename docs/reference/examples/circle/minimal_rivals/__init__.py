"""Two backends, each of which wants to go before the other."""
