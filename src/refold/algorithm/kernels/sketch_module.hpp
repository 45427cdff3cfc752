#pragma once
#include <nanobind/nanobind.h>

void bind_sketch(nanobind::module_& m);
