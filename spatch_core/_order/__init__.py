"""Descriptions and edges come in; the priority order goes out, with the reason of every edge."""
