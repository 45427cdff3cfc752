"""What is normal for this machine at this time: numbers given groups, time and other columns."""
