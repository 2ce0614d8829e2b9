"""A mapping, an object or a file comes in; a frozen, valid `Description` goes out."""
