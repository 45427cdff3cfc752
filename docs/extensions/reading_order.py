"""The order of the examples: as one would read them; new ones come last."""

ORDER = (
    "first_look",
    "folding",
    "reasons",
    "rates",
    "mixed_table",
    "dirty_training",
    "dependence",
    "limits",
    "comparing_detectors",
    "streaming",
    "merging_sites",
    "feedback",
    "drift",
    "compare_models",
    "duckdb_sql",
    "onnx",
    "paper_figure_2",
)


def place(file: str) -> tuple[int, str]:
    """Return what an example is sorted by."""
    name = file.removeprefix("plot_").removesuffix(".py")
    return (ORDER.index(name) if name in ORDER else len(ORDER)), name
