"""What the site does to pages beyond what any reader of Markdown does."""

from typing import Any

NOTES = "../notebook/"
"""Where pages, and the site in its folder, find the laboratory notes, which are no pages of the site."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Tables within <details> are tables, as elsewhere; links to the notes are not looked for among pages."""
    return markdown.replace("<details>", '<details markdown="1">').replace(f"]({NOTES}", "](notebook:")


def on_page_content(html: str, **_: Any) -> str:
    """Links to the notes lead there again."""
    return html.replace('href="notebook:', f'href="{NOTES}')
