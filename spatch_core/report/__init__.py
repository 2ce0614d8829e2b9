"""The report: what the commands print as JSON comes in; one page of HTML goes out. Needs jinja2."""
