"""The report: one HTML page that needs nothing but itself. Text is escaped here; plots escape theirs."""
from html import escape

STYLE = """body { font: 15px/1.45 sans-serif; color: #222; margin: 2em auto; max-width: 1200px; padding: 0 1em; }
table { border-collapse: collapse; margin: .6em 0 1.6em; font-size: 13px; } th, td { border: 1px solid #ccc; padding: 2px 7px; }
th { background: #f2f2f2; text-align: left; } td + td { text-align: right; font-variant-numeric: tabular-nums; }
.words td { text-align: left; }
.wide { overflow-x: auto; } .beside { display: flex; flex-wrap: wrap; }"""


def table(heads, rows, kind="numbers"):
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><tr>{head}</tr>\n{body}</table></div>'


def note(words):
    return f"<p>{escape(words)}</p>"


def beside(parts):
    return '<div class="beside">' + "\n".join(parts) + "</div>"


def section(title, parts):
    inside = "\n".join(f'<div class="wide">{part}</div>' if part.startswith("<svg") else part for part in parts)
    return f"<h2>{escape(title)}</h2>\n{inside}"


def whole(title, sections):
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
            f"<style>{STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n" + "\n".join(sections) + "\n</body></html>\n")
