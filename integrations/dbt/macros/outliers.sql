{#- The rows of a relation that a model of refold calls outliers, how far out they are, and the
    columns that are the reasons. `statement` judges all rows of the relation refold_batch; the
    tests that `refold export --to dbt` writes bring it. -#}
{% macro outliers(relation, statement) -%}
with {{ adapter.quote('refold_batch') }} as (select * from {{ relation }}),
{{ adapter.quote('refold_judged') }} as ({{ statement }})
select * from {{ adapter.quote('refold_judged') }} where {{ adapter.quote('refold_label') }} = -1
{%- endmacro %}
