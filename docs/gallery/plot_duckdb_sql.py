"""
A model that moves into the database: SQL in DuckDB
===================================================

Rows often live in a database and should stay there. A model can learn from a query, and be
written as one SQL statement that judges rows where they are, with the same answers as in Python.
"""

# %%
# Learn from a query
# ------------------
# A database of cars of the years 1970 to 1982. Normal shall be what came from Europe and Japan.

import duckdb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from vega_datasets import local_data

from refold import REF, scale
from refold.export import to_sql

BLUE, ORANGE = "#0072B2", "#D55E00"
cars = pd.read_json(local_data.cars.filepath)
database = duckdb.connect()
database.execute("CREATE TABLE cars AS SELECT * FROM cars")

columns = ["Miles_per_Gallon", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"]
model = scale.duckdb.learn(
    database,
    "SELECT * FROM cars WHERE Origin <> 'USA'",
    REF(alpha=0.05),
    columns=columns,
    progress=False,
)
print(model)

# %%
# The model as a view
# -------------------
# :func:`refold.export.to_sql` writes plain SQL; nothing is installed in the database. There are
# dialects for DuckDB, SQLite, PostgreSQL, Snowflake and BigQuery.

statement = to_sql(model, "cars", "duckdb", view="judged")
print(f"{len(statement):,} characters, beginning with")
print(statement[:300], "...")
database.execute(statement)

# %%
# From now on whoever knows SQL can ask.

query = """
    SELECT Name, year(Year::date) AS Year, round(distance, 2) AS distance, reason_1, reason_2
    FROM judged WHERE label = -1 ORDER BY distance DESC LIMIT 5
"""
print(database.sql(query).df().to_string(index=False))

# %%
# The same answers
# ----------------
# Missing values are NULL there and NaN here.

judged = database.sql("SELECT * FROM judged").df()
distances = -model.score_samples(cars[columns])
print("labels equal:", np.array_equal(judged["label"], model.predict(cars[columns])))
print(f"largest difference of a distance: {np.abs(judged['distance'] - distances).max():.1e}")

# %%
# What the database has to say
# ----------------------------
# American cars of the early seventies were another kind of thing. Ten years later they are not.

query = """
    SELECT year(Year::date) AS year, Origin = 'USA' AS american, avg((label = -1)::int) AS rejected
    FROM judged GROUP BY ALL ORDER BY year
"""
by_year = database.sql(query).df().pivot(index="year", columns="american", values="rejected")

figure, ax = plt.subplots(layout="constrained")
ax.plot(by_year.index, 100 * by_year[True], "D-", color=ORANGE, label="from the USA")
ax.plot(by_year.index, 100 * by_year[False], "o-", color=BLUE, label="others (learned)")
ax.set(xlabel="year", ylabel="cars that are not normal (%)", ylim=(0, 100))
ax.set_title("American cars became more like the others")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
