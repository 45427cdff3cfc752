"""What every room stands on: errors, files, progress, optional packages."""
