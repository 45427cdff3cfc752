#pragma once
#include <nanobind/nanobind.h>

void bind_ordering(nanobind::module_& m);
