"""The fuzzers are programs of their own (``make fuzz``); they need a package that tests do not."""

collect_ignore_glob = ["fuzz*.py"]
