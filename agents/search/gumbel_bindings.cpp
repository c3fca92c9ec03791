// Python bindings of the batched Gumbel search.
#include <nanobind/nanobind.h>

#include "search/search_state.hpp"

namespace nb = nanobind;

void register_gumbel(nb::module_&) {}
