"""Tables in: dataframes and arrays become numbers, and what is remembered of each column."""
