"""What the paper's reproduction and the benchmark share: data, finished cells, pages."""
