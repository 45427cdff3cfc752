"""A server on another port of this machine, whose pages a browser visits as well."""

import contextlib
import http.server
import threading


class OtherOrigin:
    """Serves one page, and remembers the headers of those who asked for it."""

    def __init__(self, page=b"<p>another page</p>"):
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(dict(self.headers))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *args):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"

    @classmethod
    @contextlib.contextmanager
    def running(cls, *page):
        other = cls(*page)
        thread = threading.Thread(target=other._server.serve_forever)
        thread.start()
        try:
            yield other
        finally:
            other._server.shutdown()
            thread.join()
            other._server.server_close()
