"""Facts about a fault come in; errors, warnings and problems with their texts go out."""
