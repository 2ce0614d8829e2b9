"""Functions that a backend registers come in; implementations that a call can run go out."""
