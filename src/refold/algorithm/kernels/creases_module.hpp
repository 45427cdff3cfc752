#pragma once
#include <nanobind/nanobind.h>

void bind_creases(nanobind::module_& m);
