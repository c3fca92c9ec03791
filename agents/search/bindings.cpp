// Python bindings of minimax and Monte Carlo tree search.
#include <nanobind/nanobind.h>

#include "search/search_state.hpp"

namespace nb = nanobind;

void register_search(nb::module_&) {}
