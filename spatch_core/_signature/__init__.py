"""Functions and their declared options come in; the arguments that decide a call go out."""
