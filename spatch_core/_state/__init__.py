"""Options come in; the dispatch state in force here and now goes out."""
