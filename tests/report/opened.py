"""A page in a browser."""


class Opened:
    """A page that remembers what it asked for and what it complained about."""

    def __init__(self, browser, file, **context):
        self.page = browser.new_context(**context).new_page()
        self.said, self.requests = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def column(self, table, number):
        """Return the texts of a column's cells, of the rows that are shown."""
        return self.page.eval_on_selector_all(
            f".{table} tbody tr:not([hidden])",
            f"rows => rows.map(row => row.cells[{number}].textContent.trim())",
        )
