#pragma once
#include <nanobind/nanobind.h>

void bind_svdd(nanobind::module_& m);
