"""The compiled loops of the engine ``exact`` and of the peers' SVDD solver."""
