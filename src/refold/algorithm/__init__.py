"""The paper's algorithm: folds, distances, the chain, engines that learn it, kernels."""
