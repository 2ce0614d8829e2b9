"""The report: JSON objects of commands come in; one HTML page goes out. Needs jinja2."""
