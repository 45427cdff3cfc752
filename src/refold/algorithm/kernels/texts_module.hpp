#pragma once
#include <nanobind/nanobind.h>

void bind_texts(nanobind::module_& m);
