"""What people say of rows afterwards: these are normal after all, those are not."""

from refold.models.feedback.entry import FeedbackEntry, in_short
from refold.models.feedback.log import MOST_ROWS, FeedbackLog
from refold.models.feedback.mixin import FeedbackMixin

__all__ = ["MOST_ROWS", "FeedbackEntry", "FeedbackLog", "FeedbackMixin", "in_short"]
