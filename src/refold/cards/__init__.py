"""What a fitted model says of itself: the small print of reports, and what a notebook shows."""

from refold.cards._card import Card as Card
from refold.cards._card import card_of as card_of
from refold.cards._html import card_html
from refold.cards._markdown import card_markdown

__all__ = ["card_html", "card_markdown"]
