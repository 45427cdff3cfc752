"""Models where rows already pass: a module for each framework, imported only when it is used."""
